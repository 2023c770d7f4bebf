"""What is nothing to obey, whatever words of duty stand in it: greetings, pointers, what every visitor is told."""

import re
from typing import Final

from invincat.extraction.sentences import split_sentences
from invincat.extraction.wording import is_directive

# Sections that hold nothing to obey: what follows in them is for visitors, or about people.
_BOILERPLATE_SECTION: Final = re.compile(
    r"(?i)(?:(?:our|the|project|key|main|core|additional|more|other|useful|external|related|helpful|quick)\s+)*"
    r"(?:code of conduct|licen[cs]e|licensing|license agreement|acknowledge?ments?|thanks|thank you|credits|"
    r"recognition|"
    r"contacts?(?: us)?|support|(?:get(?:ting)?|need|more|finding) (?:help|support|in touch)|(?:have |any |"
    r"got )?questions\??|"
    r"faq|community|sponsors?|contributors|maintainers|table of contents|contents|change ?log|release notes|"
    r"what'?s new|recent changes|roadmap|to-?dos?|history|status|completed\b.*|archived?|implementation plan|resources|"
    r"references|links|see also|further reading|learn more|reporting (?:bugs?|issues?|problems?|.*vulnerabilit.*)|"
    r"report (?:a |any )?(?:bugs?|issues?|problems?)\b.*|(?:write |writing )?(?:great |good )?bug reports?\b.*|"
    r"(?:feature|enhancement) requests?|ways to contribute|suggest(?:ing)? .*|your first (?:code )?contribution|"
    r"what contributions? .*|what (?:can|could) (?:i|you|we) (?:contribute|do|help)\b.*|congrat.*|"
    r"getting started with git(?:hub)?|what to include.*|features|highlights|benefits|motivation|why \w+(?: \w+)?\??|"
    r"what is .*|use cases|developer(?:['’]?s)? certificate of origin|.*\bI certify that)(?:\s*(?:&|and)\s.*)?"
    r"|.*\bexample (?:\w+ )*(?:output|usage|prompt|code|session|config\w*)|(?:(?:good|bad|code|usage|"
    r"more)\s+)*examples?"
    r"|(?:sample|example)s?\b.*"
    r"|(?:目录|致谢|鸣谢|许可证?|联系.{0,4}|更新日志|变更记录|行为准则|参考资料|相关链接|常见问题|贡献者|路线图|待办.*|"
    r".*获取帮助|我?(?:可以|能)(?:贡献|做)些?什么.*|恭喜.*|社区(?:交流|支持|渠道|论坛|.?群|参与.*)?|问题反馈|.*参与方式|贡献(?:方式|类型)|特性|功能特性|"
    r"报告 ?(?:bug|问题|缺陷|错误|.{0,2}安全漏洞).*|.*的(?:好处|优点|优势)|成为 ?(?:committer|维护者|提交者).*|"
    r"(?:寻找|查找).{0,8}issue.*)"
)
# What follows offers ways to take part, and nothing to obey.
_INVITATION: Final = re.compile(
    r"(?i)\b(?:don['’]t|do not) know where to (?:start|begin)\b|"
    r"^if you(?:['’]re| are)(?: \w+)? interested in\b.*\byou can\b|"
    r"^looking for (?:something|a place|ways?) to\b|\bwhether it(?:['’]s| is)\W*$|^如果.*感兴趣"
)
_WELCOMING: Final = re.compile(r"(?i)(?:\bwelcome\b|欢迎|感谢)[^.。!！]{0,80}$")
# "We welcome pull requests that: ..." says which.
_RESTRICTING: Final = re.compile(r"(?i)\b(?:that|which|if|when|provided|as long as|must)\W*$")
_NOISE: Final = {
    "question": re.compile(r"[?？]\W*$"),
    "persona": re.compile(
        r"(?i)^(?:you are|you're|act as|your (?:role|task|goal|job) is|as an? (?:expert|senior|ai)|you (?:have|possess|"
        r"specialize|excel|carefully)|i am|i'm|your approach|your (?:expertise|knowledge))\b|^你是"
    ),
    "greeting": re.compile(
        r"(?i)^(?:welcome|hello|hi\b|hey\b|thanks?\b|thank you|first off|congrat|happy|enjoy|cheers|we(?:'re| are) "
        r"(?:happy|glad|excited|thrilled|always|open|grateful)|we (?:love|appreciate|welcome|value|hope|encourage|"
        r"look forward|really|thank)|good luck|hack away|don['’]t (?:let .* (?:keep|stop|discourage)|be afraid)|"
        r"feel free|don['’]t (?:worry|be shy))"
        r"|\b(?:thank you|thanks for|appreciated|feel free to|(?:do not|don['’]t) hesitate|"
        r"we(?:'d| would) love|happy to help|is welcome|"
        r"are welcome|welcome contributions)\b|欢迎|感谢|谢谢|请随时|请提问|不[要必]犹豫|及时(?:进行)?(?:回复|反馈)"
    ),
    "pointer": re.compile(
        r"(?i)^[\W_]*(?:(?:please\s+|also\s+)?(?:see|refer to|check out|visit|consult)\b|read (?:more|the)\b|"
        r"(?:explore|browse) the (?:source|code|docs|documentation)\b|"
        r"for (?:more|further|full|complete|detailed|additional|help|questions|any|a (?:full|complete)|"
        r"the (?:original|full|complete|official))\b.*"
        r"\b(?:see|refer|visit|read|check)|(?:more|full|further|detailed) (?:details|information|docs|documentation)|"
        r"you can (?:find|reference|read|see|learn|also (?:find|see|read))|learn more|"
        # "`docs:` documentation only" is a type of commit.
        r"(?<!`)(?:related|source|documentation|docs)\s*[:：]|参见|参考|详见|见下|更多|(?:详细|具体|完整).{0,12}请?(?:参考|参阅|参见|查看))"
        r"|\b(?:see (?:below|above)|as (?:follows|shown below)|(?:described|listed|explained|outlined|shown|mentioned) "
        r"(?:here|below|above|earlier)|the following|in the next section)[\s.:：]*$"
        r"|^(?:all )?(?:of )?the above (?:is|are)\b"
        r"|\b(?:the above (?:links?|section|table)|(?:links?|section|table) above)\b"
        r"|\bfrom this (?:file|list|table)\b|这里面"
    ),
    "github": re.compile(
        r"(?i)^(?:please\s+|first,?\s+|go ahead and\s+)?(?:fork|clone|star|watch|follow us|join us|join the|sign up|"
        r"sign (?:the|a|our) (?:cla|contributor)|(?:open|file|create|raise|submit|send) (?:an?|the|new)\s+"
        # Where to is worth knowing: "open a pull request against `develop`".
        r"(?:\w+\s+)?(?:issue|bug|ticket|(?:pr|pull request|patch)"
        r"(?!.*\b(?:against|into|to|from)\b.*(?:\bbranch\b|`)))|"
        r"report (?:an?|any) (?:issue|bug)|make a pull request|"
        r"push (?:(?:your |the )?(?:changes|branch|commits?)\b|(?:(?:it|them) )?to (?:your|the|origin|github)\b)|"
        r"(?:create|checkout|check out|make) (?:a |your )?(?:new |feature |topic )*branch(?! (?:from|off|named))|"
        r"commit your changes|(?:search|check|look)\b.{0,30}\b(?:existing|github) issues|navigate to|go to|click|"
        r"make (?:your|the) changes|describe (?:the|your)(?: [\w'’]+){1,4}\W*$|(?:add|configure) (?:the )?upstream|"
        r"cd\b)"
        r"|^to update your (?:pr|pull request|fork)\b|your fork\b|\bgit clone\b|good first issue|help wanted|"
        # What every use of git is like.
        r"^to (?:commit|push|pull|fetch|stage)\b.*`git (?:commit|push|pull|fetch|add)|"
        r"\bplease (?:open|submit|send|file) an? (?:pr|pull request|issue)\W*$|"
        r"stack overflow|\bdiscord\b|\bslack\b|\btwitter\b|"
        r"github discussions|^(?:如果.{0,40}[，,])?请?(?:提交?|创建|新建)(?:一个|新的?|\s)*issue|"
        r"上 ?fork\b|issue 下评论|自己的 fork|^(?:fork|克隆).{0,12}(?:项目|仓库|代码)|"
        r"^创建(?:一个|新的?|[你您]的|\s)*(?:(?:特性|功能)?分支|pull request|pr)(?![^(（]*`)|"
        r"^(?:提交|commit)[你您]的(?:修改|更改|改动)|^(?:推送|push)到(?:远程|[你您]的)"
    ),
    "meta": re.compile(
        r"(?i)^(?:this|these|the following) (?:files?|documents?|guides?|pages?|sections?|rules?|guidelines|"
        r"instructions|docs?)\b|"
        r"^applies to\b|^本(?:文档|文件|指南|规范)"
    ),
    "legal": re.compile(
        r"(?i)\b(?:code of conduct|contributor (?:covenant|license)|licen[cs]ed under|under the (?:\w+ )?licen[cs]e|"
        r"open[- ]source licen[cs]e|"
        r"copyright|all rights reserved|\bCLA\b|contributions? will be licensed)\b|行为准则"
    ),
    "passing": re.compile(
        r"(?i)^(?:todo|fixme|wip|tbd|done|in progress|coming soon|updated?|last updated|version|status|date|author|"
        r"maintainers?|created|contact|e-?mail|phone|website|homepage)\s*[:：]|\b(?:coming soon|work in progress|"
        r"currently working on|will be (?:added|removed|fixed|released) (?:soon|in)|as of (?:today|this writing|"
        r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)\w* \d)|last updated|stay tuned|right now we)\b|"
        r"^\d{4}-\d\d-\d\d\b|^v?\d+\.\d+\.\d+\b|🚧"
    ),
    "example": re.compile(
        r"(?i)^[\W_]*(?:(?:(?:good|bad) )?examples?\b.{0,30}[:：]|(?:示例|举例|例子|样例|范例).{0,12}[:：]|"
        r"e\.g\.|for example\b|output\s*[:：]|input\s*[:：]|sample\b)"
    ),
    "contact": re.compile(r"[\w.+-]+@[\w-]+\.[a-z]{2,}\W*$|(?i:^email us|^reach out|^contact us)"),
    "address": re.compile(r"^[\w .-]{1,40}:\s*<?https?://\S+$"),
    "unfinished": re.compile(r"(?i)\b(?:run|running|use|execute|with|by|via|like|and|or|the|to|as)[\s,]*$"),
    "code": re.compile(
        r"[;{}]\s*$|^(?:const|let|var|import|from [\w.]+ import|def \w+\(|class \w+[:({]|function \w+\(|public |"
        r"private |export |"
        r"return |SELECT |CREATE |INSERT |ALTER |UPDATE |DROP |<[A-Za-z/]|#include|@\w+\()|^\w+\(.*\)$|=>\s*$"
    ),
    "table of contents": re.compile(r"(?i)^(?:table of )?contents\W*$"),
}


def is_boilerplate_section(heading: str) -> bool:
    """Whether what stands under this heading is for visitors and nothing to obey."""
    return bool(_BOILERPLATE_SECTION.fullmatch(heading))


def is_invitation(words: str) -> bool:
    """Whether a lead-in only offers ways to take part to choose from, or greets."""
    if _INVITATION.search(words):
        return True
    last = split_sentences(words)[-1] if words else ""
    return bool(_WELCOMING.search(last)) and not (is_directive(last) or _RESTRICTING.search(last))


def kind_of_noise(text: str) -> str | None:
    """Why this is no rule, whatever else it says; None when nothing speaks against it."""
    return next((name for name, pattern in _NOISE.items() if pattern.search(text)), None)
