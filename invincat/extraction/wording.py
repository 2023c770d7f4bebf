"""The words by which a rule is told from the rest of a document, English and Chinese. Tables, and what reads them."""

import re
import unicodedata
from typing import Final

from invincat.extraction.sentences import split_sentences, word_set

MAX_SECTION = 80

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
    r"what is .*|use cases)(?:\s*(?:&|and)\s.*)?"
    r"|.*\bexample (?:\w+ )*(?:output|usage|prompt|code|session|config\w*)|(?:(?:good|bad|code|usage|"
    r"more)\s+)*examples?"
    r"|(?:sample|example)s?\b.*"
    r"|(?:目录|致谢|鸣谢|许可证?|联系.{0,4}|更新日志|变更记录|行为准则|参考资料|相关链接|常见问题|贡献者|路线图|待办.*|"
    r".*获取帮助|我?(?:可以|能)(?:贡献|做)些?什么.*|恭喜.*|社区.*|问题反馈|.*参与方式|特性|功能特性)"
)
# What follows offers ways to take part, and nothing to obey.
_INVITATION: Final = re.compile(
    r"(?i)\b(?:don['’]t|do not) know where to (?:start|begin)\b|"
    r"^if you(?:['’]re| are)(?: \w+)? interested in\b.*\byou can\b|"
    r"^looking for (?:something|a place|ways?) to\b|\bwhether it(?:['’]s| is)\W*$|^如果.*感兴趣"
)
# Headings and lead-ins that add no meaning to what follows.
_HOLLOW: Final = re.compile(
    r"(?i)(?:(?:some|the|our|a few|these|more|other|additional|important|key|general|basic|core|critical|main|specific|"
    r"coding|code|development|project|contribution|contributing|detailed|special)\s+)*"
    r"(?:rules?|guidelines?|guidance|principles?|notes?|overview|introduction|instructions?|conventions?|"
    r"best practices?|practices|requirements?|standards?|tips|important|general|misc(?:ellaneous)?|details|"
    r"reminders?|do this(?: instead)?|"
    r"basics|background|about|description|summary|constraints|rule details|do'?s?|steps?|"
    r"context|key points|points|expectations)(?:\s+(?:to follow|for agents|for ai agents|for contributors))?\s*[:：]?|"
    r"(?:please\s+|make sure (?:to|you)\s+)?(?:follow|note|observe|remember|adhere to|respect|keep in mind|ensure|"
    r"consider|use|apply)\s+(?:all\s+)?(?:of\s+)?(?:these|the|this|our)\s*(?:following)?\s*\w*\s*[:：]?|"
    r"(?:other\s+)?rules (?:you )?(?:need|have|must) (?:to )?(?:be )?follow(?:ed)?\s*[:：]?|"
    r"(?:规则|规范|说明|概述|注意|注意事项|总则|简介|约定|要求|基本原则|开发规范|代码规范|其他)\s*[:：]?"
)
_NEGATIVE: Final = re.compile(
    r"(?i)^[\W_]*(?:(?:things|what|patterns|practices)\s+(?:\w+\s+)?(?:not to|to avoid|to never|you (?:must|"
    r"should) not)"
    r"|do ?n[o'’]?t'?s?\b|do not\b|never\b|avoid\b|anti-?patterns?\b|forbidden\b|prohibited\b|not allowed\b|"
    r"disallowed\b|bad\b|out of scope\b|non-goals\b|red flags\b|no-gos?\b|stop\b)"
    r"|\b(?:do not|don['’]t|never|must not|should not|shouldn['’]t|may not|cannot|avoid|not)(?:\s+\w+){0,2}\s*[:：]\s*$"
    r"|^[\W_]*(?:禁止|不要|切勿|[严嚴]禁|避免|不得|不允[许許]|不[应應]|反模式|不可)|(?:禁止|不要|避免)\s*[:：]?$"
)
_POSITIVE: Final = re.compile(
    r"(?i)^[\W_]*(?:do'?s?|always|instead|prefer(?:red)?|good|allowed|must|required|recommended|should|推荐|应该|"
    r"必须)\b"
)
# A lead-in that says no and nothing else; what already says no needs it not.
_BARE_NEGATIVE: Final = re.compile(
    r"(?i)[\W_]*(?:things to avoid|what not to do|what to avoid|do ?n[o'’]?t'?s?|do not(?: do)?|never(?: do)?|avoid|"
    r"anti-?patterns?(?: to avoid)?|forbidden|prohibited|bad|禁止|不要|避免|禁止事[项項]|不要做)[\W_]*"
)
_SAYS_NO: Final = re.compile(
    r"(?i)^[\W_]*(?:never|do not|don['’]t|avoid|no\b|not\b|stop\b|must not|should not|shouldn['’]t|cannot|can['’]t|"
    r"without|禁止|不要|切勿|[严嚴]禁|避免|不得|不允[许許]|不[应應]|不能|不可|不)"
)
_PROCEDURE: Final = re.compile(
    r"(?i)^(?:to\s+\w+|how to\b|steps?\b|adding\b|creating\b|releasing\b|running\b|building\b|updating\b|deploying\b|"
    r"setting up\b|writing\b|debugging\b|implementing\b|publishing\b|installing\b|making\b|(?:when|before|after|for)\b)"
    r"|\b(?:workflow|process|procedure|steps|setup|release|checklist|installation|protocol|pipeline|completion|loop|"
    r"sequence|order|cycle|flow)\b|流程|步骤|如何|工作流"
)
_GOTCHA: Final = re.compile(
    r"(?i)\b(?:gotchas?|pitfalls?|caveats?|watch out|beware|common mistakes|footguns?|traps?|sharp edges|"
    r"known issues)\b|(?:坑|陷阱|踩坑|易错)"
)
_LAYOUT: Final = re.compile(
    r"(?i)\b(?:layout|structure|repo(?:sitory)? map|file map|organi[sz]ation|files)\b|结构|目录"
)

_BINDING: Final = re.compile(
    r"(?i)\b(?:must|mandatory|forbidden|prohibited|shall|not allowed|not permitted|under no circumstances|"
    r"(?:is|are|be)\s+required|required\s*[:：]|required\)|is a must|non-negotiable|strictly)\b"
    r"|(?<!\bis )(?<!\bare )(?<!\bwas )(?<!\bhas )(?<!\bhave )(?<!\bit )(?<!\bwhich )(?<!\bthat )(?<!\bthey )"
    r"(?<!\bwill )(?<!\balmost )(?<![-/])\b(?:never|always)\b(?! (?:took|had|was|were|did|got)\b)"
    r"|(?<!\byou )(?<!\bwho )(?<!\bthat )(?<!\bthey )(?<!\bwe )(?<!\bif )\b(?:do not|don['’]t)\b"
    r"(?!\s+(?:need|have|worry|want|mind|hesitate|exist|matter|support|require|care|know)\b)"
    r"|必[须須]|禁止|不要|不得|[严嚴]禁|切勿|[务務]必|一律|不允[许許]|[绝絕]不|不可以|不准|[强強]制"
)
_DIRECTIVE: Final = re.compile(
    r"(?i)\b(?:must|should|shall|needs? to|ha(?:ve|s) to|required|prefer(?:red)?|avoid|ensure|make sure|be sure|"
    r"recommended?|conventions?|not allowed|forbidden|mandatory|by default|instead of|we use|we follow|do not|don['’]t|"
    r"please)\b"
    r"|必[须須]|禁止|不要|不得|[应應][该該]|[请請]|[务務]必|一律|[统統]一|建[议議]|推[荐薦]|避免|需要|不能|不可|不允许|"
    r"^(?:使用|采用|遵循|运行|执行|优先|保持|添加|编写|更新|检查|确保|测试)"
)
_FACT: Final = re.compile(
    r"(?i)\b(?:lives?|located|stored|defined|resides?|kept|placed|managed|handled|generated|declared|configured|"
    r"registered|enforced|published|tested|written|built|based)\s+(?:in|under|at|by|with|from|on|via|using|through)\b|"
    r"\b(?:uses?|requires?|supports?|expects?|follows?|relies|runs?|returns?|raises?|wraps?|inherits?|contains?|"
    r"reads?|writes?|is|are|means|holds?|depends|accepts?|provides?|delegates?)\b|位于|存放|基于|放在"
)
_IMPERATIVES: Final = word_set(
    "accept access account add address adhere adjust adopt align allow annotate append apply approach ask assert "
    "assign "
    "assume attach audit avoid balance base batch be begin benchmark bind block break build bump cache call capture "
    "catch centralize change check choose clean clear close collect combine comment commit compare compile complete "
    "compose compress confirm configure connect consider construct consult convert copy cover create deal debounce "
    "debug declare decouple default defer define delegate delete deploy derive describe design destructure detect "
    "develop disable display dispose do document don't download drop eliminate embed employ emulate enable encapsulate "
    "encourage encrypt enforce ensure escape establish evaluate examine exclude execute expect explain explicitly "
    "export expose express extend extract factor favor favour fetch filter find fix focus follow force format gate "
    "generate get give group guard handle have hide highlight hoist identify ignore implement import improve include "
    "incorporate indent index inherit initialize inject insert inspect install instrument integrate isolate iterate "
    "justify keep know label launch lazy-load learn leave let leverage limit link lint list load lock log look "
    "maintain "
    "make manage map mark match maximize measure memoize merge migrate minimize mirror mock modify monitor mount move "
    "name name-space namespace never normalize note notify obtain offer omit only open opt optimize order organize "
    "outline override pair parameterize parse partition pass patch paste perform persist pick pin place plan point "
    "polish prefer prefix prepare prepend present preserve prevent prioritize process produce profile prompt propagate "
    "protect provide prune publish pull purge push put query raise re-run read rebase rebuild recommend record redact "
    "reduce refactor refer reference refresh register reject release rely remember remove rename render reorder repeat "
    "replace report request require rerun reserve reset resolve respect respond restart restore restrict retain retry "
    "return reuse review revert rewrite rotate round route run sanitize save scope search secure select send separate "
    "serialize serve set setup share ship show simplify skip sort specify split squash stage standardize start state "
    "stay stick stop store stream strip strive structure style submit suffix summarize support switch sync tag target "
    "tear test throw tie track transform translate treat trigger trim try tune turn type understand uninstall "
    "unify update upgrade use utilize validate vendor verify version wait walk warn watch work wrap write always "
    "please "
    "double-check edit touch bypass hit invoke hardcode hard-code leak swallow suppress duplicate nest mutate sleep "
    "backport bisect cherry-pick clone stash "
    "print trust inline introduce mention amend force-push depend spawn squash"
)
# The label of an outcome: "Failure: the bot says why".
_OUTCOME: Final = r"^[\W_]*(?:success|succeeded|failure|failed|passed|成功|失败|通过|未通过)[\W_]*[:：]"
_DEPENDENT: Final = re.compile(
    r"(?i)^[\W_]*(?:this|that|these|those|it|its|they|them|their|he|she|such|otherwise|however|then|instead|also|"
    r"additionally|furthermore|moreover|in addition|in (?:this|that|these|those|such|both) cases?|here|as mentioned|"
    r"for example|for instance|e\.g\.|i\.e\.|but|and|or|so|because|therefore|thus|hence|similarly|likewise|"
    r"alternatively|except|both|the (?:former|latter|rest|same|above|others?|following)|same|if (?:so|not|it|they|that|"
    r"this)|once (?:done|that|this|it)|after (?:that|this)|more(?:over)?|below|above|note that (?:this|it)|"
    r"finally|next|which|else|do (?:this|so)|set to|defaults? to|used (?:by|for|to|in)|doing so|conversely|"
    r"in other words|(?:pick|choose|select|use|take|copy) (?:one|any|either) (?:that|which|if|when))\b"
    r"|^[\W_]*(?:must|should|can|is|are|was|has|contains|provides|handles|returns|supports|resolves|inspects|wraps|"
    r"uses|"
    r"requires|includes|creates|runs|reads|writes|stores|manages|allows|means)\b"
    r"|^[\W_]*[A-Za-z]+(?: \w+)? (?:them|it|these|those|its|their)\b"
    # An outcome is one of something.
    rf"|{_OUTCOME}"
    r"|^(?:这|那|它|此|否则|但是?|因此|所以|另外|例如|比如|其中|同时|以上|以下)"
)
# A sentence that points back from within; it may name its own case.
_LEANING: Final = re.compile(
    r"(?i)^(?:(?!\b(?:if|when|where|whenever|unless)\b).)*\bin (?:this|that|such a) case\b"
    r"|\bas well\W*$"
)
# Of these, what no heading can explain: it points at a sentence.
_POINTING: Final = re.compile(
    r"(?i)^[\W_]*(?:this|that|these|those|it|its|they|them|their|he|she|such|both|here)\b|^(?:这|那|它)"
)
# A lead-in that only points back at the words before it.
_BACK: Final = re.compile(
    r"(?i)^[\W_]*(?:as such|any such|such|therefore|thus|hence|accordingly|this|that|these|those|it|they|both)\b"
)
_ADDING: Final = re.compile(r"(?i)^(?:in addition to|besides|apart from) (?:the above|this|that|these|those)\b")
_PERMISSION: Final = re.compile(r"(?i)^you (?:can|may)\b(?! (?:not|only)\b)(?!.*\b(?:must|should|only|need)\b)")
MAX_BACK: Final = 6
# Headings and lead-ins of lists that are the steps of one task, though nobody numbered them. Topics ("Testing",
# "Writing tests") are none: what stands below them are rules.
_TASK: Final = re.compile(
    r"(?i)^(?:to\s+(?!be\b)\w+|how to\b|(?:adding|backporting|releasing|cutting|publishing|deploying|upgrading|"
    r"bumping|porting|installing|setting up|syncing|migrating)\b)|\b(?:steps|procedure|walkthrough)$|步骤$|流程$"
)
# Orders that say how things are to be, and not what to do next.
_RULE_VERBS: Final = word_set(
    "use prefer keep avoid ensure follow include favor favour limit respect maintain treat consider name document "
    "focus be always never don't do make write reuse handle have adhere please remember note"
)
MAX_STEP: Final = 24
# Names of lists whose items are names to choose from.
_CHOICES: Final = re.compile(
    r"(?i)(?:\btypes?|\bkinds?|\bcategor(?:y|ies)|\bstatus(?:es)?|类型|类别|分类|状态|选项)$|^(?:types?|kinds?) of \w+$"
)
# A heading that is a condition belongs to every rule below it.
_CONDITION: Final = re.compile(
    r"(?i)^(?:when|before|after|while|if|during|whenever|once|unless|for)\b(?!.*\?$)|(?:之前|之后|时|的时候)$"
)
_NAMED_THIS: Final = re.compile(
    r"(?i)^(?:this|these)\s+(?:project|repo(?:sitory)?|codebase|package|library|sdk|app(?:lication)?|module|"
    r"directory|folder|monorepo|workspace)\b"
)
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
        r"feel free|don['’]t (?:hesitate|worry|be shy))"
        r"|\b(?:thank you|thanks for|appreciated|feel free to|we(?:'d| would) love|happy to help|is welcome|"
        r"are welcome|welcome contributions)\b|欢迎|感谢|谢谢"
    ),
    "pointer": re.compile(
        r"(?i)^[\W_]*(?:(?:please\s+|also\s+)?(?:see|refer to|check out|visit|consult)\b|read (?:more|the)\b|"
        r"(?:explore|browse) the (?:source|code|docs|documentation)\b|"
        r"for (?:more|further|full|complete|detailed|additional|help|questions|any|a (?:full|complete))\b.*"
        r"\b(?:see|refer|visit|read|check)|(?:more|full|further|detailed) (?:details|information|docs|documentation)|"
        r"you can (?:find|reference|read|see|learn|also (?:find|see|read))|learn more|related\s*[:：]|source\s*[:：]|"
        r"documentation\s*[:：]|docs\s*[:：]|参见|参考|详见|见下|更多)"
        r"|\b(?:see (?:below|above)|as (?:follows|shown below)|(?:described|listed|explained|outlined|shown|mentioned) "
        r"(?:here|below|above|earlier)|the following|in the next section)[\s.:：]*$"
        r"|\b(?:the above (?:links?|section|table)|(?:links?|section|table) above)\b"
        r"|\bfrom this (?:file|list|table)\b|这里面"
    ),
    "github": re.compile(
        r"(?i)^(?:please\s+|first,?\s+)?(?:fork|clone|star|watch|follow us|join us|join the|sign up|sign (?:the|a|our) "
        r"(?:cla|contributor)|open (?:an?|the) (?:issue|ticket|pr|pull request)|(?:file|create|raise|submit|"
        r"send) an?\s+"
        r"(?:\w+\s+)?(?:issue|bug|ticket|pr|pull request|patch)|report (?:an?|any) (?:issue|bug)|make a pull request|"
        r"push (?:to |your |the )?(?:changes |branch |commits )?(?:to )?(?:your|the|origin|github)|"
        r"(?:create|checkout|check out|make) (?:a |your )?(?:new |feature |topic )*branch(?! (?:from|off|named))|"
        r"commit your changes|(?:search|check|look)\b.{0,30}\bexisting issues|navigate to|go to|click|"
        r"make (?:your|the) changes|describe (?:the|your)|(?:add|configure) (?:the )?upstream|cd\b)"
        r"|^to update your (?:pr|pull request|fork)\b|your fork\b|\bgit clone\b|good first issue|help wanted|"
        r"stack overflow|\bdiscord\b|\bslack\b|\btwitter\b|"
        r"github discussions|^提交 ?issue|上 ?fork\b|issue 下评论|自己的 fork"
    ),
    "meta": re.compile(
        r"(?i)^(?:this|these|the following) (?:files?|documents?|guides?|pages?|sections?|rules?|guidelines|"
        r"instructions|docs?)\b|"
        r"^applies to\b|^本(?:文档|文件|指南|规范)"
    ),
    "legal": re.compile(
        r"(?i)\b(?:code of conduct|contributor (?:covenant|license)|licen[cs]ed under|under the (?:\w+ )?licen[cs]e|"
        r"open[- ]source licen[cs]e|"
        r"copyright|all rights reserved|\bCLA\b|contributions? will be licensed)\b"
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
_PATH_ONLY: Final = re.compile(r"`?[\w.*@/\\<>{}-]*[/.][\w.*@/\\<>{}-]*`?")
_PATH_FIRST: Final = re.compile(r"`?[\w.*@-]*[/.(][^`\s]*`?(?:\s|:|$)")
_CODE: Final = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)")
_LABEL: Final = re.compile(r"^(?P<label>[^`:：]{1,60}?)\s*(?::\s+|：\s*)(?P<rest>.+)$", re.DOTALL)
_CJK: Final = re.compile(r"[\u3400-\u9fff\u3040-\u30ff\uac00-\ud7af]")
_NUMBERING: Final = re.compile(
    r"^(?:(?:step|phase|part|section|chapter|rule)\s+\d+\s*[:.)–-]?\s+|\(?\d{1,2}(?:\.\d{1,2})*[.):、]\s*|"
    r"\d{1,2}(?:\.\d{1,2})+\s+|"
    r"[一二三四五六七八九十]+[、.．]\s*|第\s*[一二三四五六七八九十\d]+\s*[章节部分条步][:：、]?\s*|[IVX]{1,4}\.\s+|"
    r"[A-Z]\.\s+)",
    re.IGNORECASE,
)
_LINE_NUMBER: Final = re.compile(r"^\d{1,2}[.)]?\s+(?=[A-Z][\w /&-]{2,40}:\s)")
_YES_SIGN: Final = re.compile(r"^\s*(?:✅|✔|☑|👍)\ufe0f?\s*")
_NO_SIGN: Final = re.compile(
    # A sign before an outcome ("❌ Failure: the bot says why") forbids nothing.
    r"^[\s]*(?:❌|🚫|⛔|✗|✘|✖|⛔️|❎)\ufe0f?\s*"
    rf"(?!(?i:{_OUTCOME.removeprefix('^')}))"
)


def without_code(text: str) -> str:
    """The text with each code span as one neutral word."""
    return _CODE.sub("`x`", text)


def is_boilerplate_section(heading: str) -> bool:
    """Whether what stands under this heading is for visitors and nothing to obey."""
    return bool(_BOILERPLATE_SECTION.fullmatch(heading))


def is_invitation(words: str) -> bool:
    """Whether a lead-in only offers ways to take part to choose from."""
    return bool(_INVITATION.search(words))


def is_hollow(words: str) -> bool:
    """Whether a heading or lead-in adds no meaning."""
    return not any(char.isalnum() for char in words) or bool(_HOLLOW.fullmatch(words))


def is_negative(words: str) -> bool:
    """Whether a heading or lead-in turns what follows into what not to do."""
    return bool(_NEGATIVE.search(words))


def is_positive(words: str) -> bool:
    """Whether a heading or lead-in ends the reach of a negative one further out."""
    return bool(_POSITIVE.search(words))


def is_bare_negative(words: str) -> bool:
    """Whether it says no and nothing else."""
    return bool(_BARE_NEGATIVE.fullmatch(words))


def says_no(text: str) -> bool:
    """Whether a rule says by itself what not to do."""
    return bool(_SAYS_NO.search(text))


def is_procedure(words: str) -> bool:
    """Whether a heading or lead-in announces steps that belong together."""
    return bool(_PROCEDURE.search(words))


def is_gotcha(words: str) -> bool:
    """Whether it announces a trap."""
    return bool(_GOTCHA.search(words))


def is_layout(heading: str) -> bool:
    """Whether it announces where things are."""
    return bool(_LAYOUT.search(heading))


def is_binding(text: str) -> bool:
    """Whether it binds: must, never, always and their kin, outside code (FORMAT `tier`)."""
    return bool(_BINDING.search(without_code(text)))


def is_imperative(text: str) -> bool:
    """Whether a clause of it begins with a verb that tells somebody to do something."""
    words = without_code(text)
    return not has_cjk(words) and any(
        (first := re.match(r"[\W_]*([A-Za-z][\w'’-]*)", clause)) is not None
        and first[1].lower().replace("’", "'") in _IMPERATIVES
        for clause in re.split(r"(?:^|[,:;—–]|\s-\s|\bthen\b)\s*", words)[:4]
        if clause
    )


def is_order_verb(word: str) -> bool:
    """Whether a word is a verb, in the form in which it tells somebody to do something."""
    return word.lower() in _IMPERATIVES


def is_directive(text: str) -> bool:
    """Whether it tells what to do, by its verb or by a word of duty."""
    return bool(_DIRECTIVE.search(without_code(text))) or is_binding(text) or is_imperative(text)


def is_fact(text: str) -> bool:
    """Whether it names something of the repository and says what it is, does or where it lives."""
    return "`" in text and bool(_FACT.search(without_code(text)))


def has_verb(text: str) -> bool:
    """Whether it says something of something, as far as a word list can tell."""
    return bool(_FACT.search(without_code(text)))


def is_dependent(text: str) -> bool:
    """Whether it leans on the words before it."""
    if _LEANING.search(next(iter(split_sentences(text)), "")):
        return True
    return bool(_DEPENDENT.search(text)) and not _NAMED_THIS.search(text)


def is_pointing(text: str) -> bool:
    """Whether it begins by pointing at a sentence that stands elsewhere."""
    return bool(_POINTING.search(text)) and not _NAMED_THIS.search(text)


def points_back(lead: str) -> bool:
    """Whether a lead-in only points at the words before it, and neither orders nor forbids anything."""
    return bool(_ADDING.search(lead)) or (
        bool(_BACK.search(lead))
        and weight(lead) <= MAX_BACK
        and not (_NAMED_THIS.search(lead) or is_directive(lead) or is_negative(lead))
    )


def is_permission(text: str) -> bool:
    """Whether it only says what one may do; with a command or a name it says how."""
    return "`" not in text and bool(_PERMISSION.search(text))


def is_task(words: str) -> bool:
    """Whether a heading or lead-in names a task, so that a list of orders below it is how it is done."""
    return bool(_TASK.search(words.rstrip(":： ")))


def is_step(text: str) -> bool:
    """Whether it is a short order that says what to do next: no duty, no style."""
    first = re.match(r"[\W_]*([A-Za-z][\w'’-]*)", without_code(text))
    verb = first[1].lower().replace("’", "'") if first else ""
    is_order = verb in _IMPERATIVES and verb not in _RULE_VERBS
    return is_order and weight(text) <= MAX_STEP and not (is_binding(text) or _DIRECTIVE.search(without_code(text)))


def is_choice(name: str, text: str) -> bool:
    """Whether an item is one of the names that a list called `name` offers ("Type of change", "Bug fix")."""
    return (
        bool(_CHOICES.search(name)) and weight(text) <= 4 and not re.search("[`:：]", text) and not is_directive(text)
    )


def is_condition(heading: str) -> bool:
    """Whether a heading says when what stands below it holds."""
    return bool(_CONDITION.search(heading))


def noise(text: str) -> str | None:
    """Why this is no rule, whatever else it says; None when nothing speaks against it."""
    return next((name for name, pattern in _NOISE.items() if pattern.search(text)), None)


def is_path_only(text: str) -> bool:
    """Whether it only lists a file."""
    return bool(_PATH_ONLY.fullmatch(text.strip()))


def begins_with_path(text: str) -> bool:
    """Whether it begins by naming a file or folder, which is context enough."""
    return bool(_PATH_FIRST.match(text))


def weight(text: str) -> int:
    """How much is said: words outside code, two characters of CJK being one word."""
    bare = _CODE.sub(" ", text)
    return len(_CJK.findall(bare)) // 2 + len(re.findall(r"[A-Za-z][\w'’-]*", bare))


def label_of(text: str) -> tuple[str, str] | None:
    """`Label: the rest`, apart."""
    found = _LABEL.match(text)
    return (found["label"], found["rest"]) if found else None


def has_cjk(text: str) -> bool:
    """Whether it is written in Chinese, Japanese or Korean."""
    return bool(_CJK.search(text))


def is_ticked(text: str) -> bool:
    """Whether a sign before it says that it is what to do."""
    return bool(_YES_SIGN.match(text))


def clean_heading(text: str) -> str:
    """A heading without numbering, emoji and final colon; may be empty."""
    text = "".join(char for char in text if not _is_ornament(char)).strip()
    text = _NUMBERING.sub("", text, count=1).strip(" \t:：-–—*_#")
    if len(text) <= MAX_SECTION:
        return text
    return text[:MAX_SECTION].rsplit(" ", 1)[0].rstrip(" ,;:-–—")


def clean_rule(text: str) -> str:
    """A rule without the signs and numbers before it; a sign that says no becomes words."""
    says_no_by_sign = _NO_SIGN.match(text)
    start = next((place for place, char in enumerate(text) if not _is_ornament(char) and char not in " -–—*•"), 0)
    text = _LINE_NUMBER.sub("", " ".join(text[start:].split()))
    return f"Don't: {text}" if says_no_by_sign and not says_no(text) else text


def _is_ornament(char: str) -> bool:
    return char in "\ufe0f\u200d\ufffd" or (unicodedata.category(char) == "So" and char not in "©®™°")
