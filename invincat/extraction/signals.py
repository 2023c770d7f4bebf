"""The phrases by which people ask to be remembered, state standing rules, or take back what they said. Tables."""

import re
from typing import Final

from invincat.extraction.sentences import word_set

ACKNOWLEDGED: Final = re.compile(
    r"(?i)(?:ok(?:ay|ey)?|k{1,2}|y|n|yes|yep|yeah+|yup|ya|no+|nope|nah|sure(?: thing)?|right|correct|exactly|agreed?|"
    r"(?:that'?s |it'?s |its |this is |all |very |looks? |sounds? |so |pretty |really |works )?(?:great|good|nice|cool|"
    r"perfect(?:ly)?|excellent|awesome|amazing|wonderful|fantastic|brilliant|super|neat|sweet|fine|fair(?: enough)?|"
    r"right|correct|well)(?: to me| for me| job| work| one| idea| catch| point| enough| now| then)?|alright|all right|"
    r"done|thanks?(?: (?:you|a lot|so much|very much|again|much|for (?:that|this|the help)))*|thx|ty|tysm|cheers|"
    r"many thanks|much appreciated|please(?: do)?|pls|lgtm|ship it|go(?: ahead| on| for it)?|continue|proceed|carry on|"
    r"keep going|do it|do that|let'?s (?:go|do (?:it|that|this))|make it so|got it|i see|understood|roger(?: that)?|"
    r"ack(?:nowledged)?|noted|makes sense|works(?: for me)?|no problem|np|no worries|my bad|sorry|hm+|mhm|ah+|oh+|aha|"
    r"wow|lol|haha+|hi|hello|hey|bye|indeed|absolutely|definitely|of course|yay|you too|will do|next|ready|love it|"
    r"i agree|i like it|as you (?:like|wish)|up to you|whatever|then|now|and|but|there|again|yes please|claude|"
    r"invincat|"
    r"好的?|好吧|好了|行|可以|嗯+|是的?|对的?|没错|没问题|不错|很好|非常好|太好了|太棒了|完美|谢谢(?:你|您|了)?|多谢|"
    r"感谢|"
    r"辛苦了?|继续|请继续|开始吧?|去吧|做吧|明白了?|了解了?|知道了|收到|同意|哦+|噢+|啊+|哈+|当然|不用|不用了|没事|"
    r"算了|你好|"
    r"再见|棒|赞|请|吧|的|了)(?![A-Za-z0-9])"
)

# What may stand before "remember": address, politeness, time.
_FILLER: Final = (
    r"(?:(?:ok(?:ay)?|and|also|so|but|oh|ah|btw|hey|hi|yes|no|yeah|great|good|thanks|thank you|please|pls|"
    r"one more thing|"
    r"important|reminder|note|fyi|by the way|for (?:the )?(?:future|next time|later|future reference|future sessions)|"
    r"in (?:the )?future|from now on|going forward|can you|could you|would you|will you|i want you to|i'?d like you to|"
    r"i would like you to|i need you to|you should|you must|you need to|you have to|just|always|then|now|first|finally|"
    r"invincat|claude|assistant|let'?s|don'?t forget to|make sure (?:to|you)|be sure to|try to|do|to|kindly|"
    r"actually|again|once more|for next time|for all future (?:sessions|work)|here'?s something to|something to|"
    r"a rule to|things? to|two things to|everyone|team)[\s,.:;!—–-]*)*"
)
_WHEN: Final = (
    r"(?:\s+(?:for|in|next time|as|when|always|forever|please|going forward|from now on|permanently)\b[^:：]{0,60})?"
)
# Explicit requests. `content` is what is to be remembered; without it, it is what was said before.
REQUESTS: Final = (
    # remember: X / please remember this: X / note for the future: X
    re.compile(
        rf"(?i)^{_FILLER}(?:remember|memori[sz]e|note (?=this|that|down)(?:down )?|keep in mind|bear in mind|"
        rf"don'?t forget|do not forget|never forget|"
        r"make a (?:mental )?note|take note|(?:a )?note (?:for|to) (?:the )?(?:future|next time|yourself|self|later|"
        r"memory)|"
        r"(?:save|add|write|put|store|commit) (?:this|that|it|the following)?\s*(?:in|to|"
        r"into) (?:your )?(?:long-term )?memory|"
        r"for (?:the )?(?:record|future reference|future sessions))"
        rf"(?:\s+(?:this|that|these|it|the following(?: \w+)?|one thing|(?:this|these) (?:rules?|facts?)))?{_WHEN}"
        r"\s*(?:[:：]|\s[—–-]\s)\s*(?P<content>.*)$"
    ),
    # remember that X, keep in mind that X, don't forget that X
    re.compile(
        rf"(?i)^{_FILLER}(?:remember|memori[sz]e|keep in mind|bear in mind|don'?t forget|do not forget|never forget|"
        rf"make a (?:mental )?note|take note)(?:,)?\s+that\s+(?P<content>\S+\s+\S.*)$"
    ),
    # remember, we use nox / remember we use nox
    re.compile(
        rf"(?i)^{_FILLER}(?:remember|keep in mind|don'?t forget),?\s+(?P<content>(?P<claim>(?:we|our|i|my|"
        rf"this (?:project|repo\w*|team)|"
        r"the (?:team|project|repo\w*))\b(?!\s*(?:saw|said|had|did|did\b|were|was|talked|discussed|tried|"
        r"talked))\s+\S.*))$"
    ),
    # remember to X: only with a word that makes it standing (see DUTY)
    re.compile(
        rf"(?i)^{_FILLER}(?:remember|don'?t forget|do not forget|never forget)\s+(?P<duty>(?:not )?to\s+\S+\s+.*)$"
    ),
    # X, remember that. / X - please remember this
    re.compile(
        r"(?i)^(?P<content>\S.*\S)\s*(?:[,;]|\s[—–-])\s*(?:and |so |but )?(?:please )?"
        rf"(?:remember|memori[sz]e|keep in mind|note|don'?t forget)\s+(?:this|that|it){_WHEN}[\s.!]*$"
    ),
    # remember this. / please remember that for next time
    re.compile(
        rf"(?i)^{_FILLER}(?:(?:remember|memori[sz]e|note|keep|don'?t forget)\s+(?:this|that|it|these)"
        r"(?:\s+(?:rule|one|fact|convention|preference|in mind|down))?"
        r"|(?:save|add|write|put|store|commit) (?:this|that|it) (?:in|to|into) (?:your )?(?:long-term )?memory"
        rf"|i want (?:this|that|it) (?:to be )?remembered|keep (?:this|that|it) in mind){_WHEN}(?P<content>)[\s.!]*$"
    ),
    re.compile(
        r"^(?:(?:请|麻烦|帮我|你要?|以后|另外|还有|对了|好的?|嗯|务必|一定要?|也)[，,\s]*)*(?:记住|记下来?|记一下|"
        r"牢记|记录一下|记得|"
        r"别忘了?|不要忘记?|请注意记住|写入记忆|加入记忆|备注一下)(?:这一?点|这个|一下|了|下面|以下(?:内容|规则|"
        r"几点)?|如下)*"
        r"\s*[:：,，]?\s*(?P<content>.*)$"
    ),
)
# What makes "remember to do X" a standing duty and not a reminder for the task at hand.
DUTY: Final = re.compile(
    r"(?i)\b(?:always|never|every|each|whenever|when|before|after|any ?time|in (?:this|our) (?:repo\w*|project|team|"
    r"codebase)|"
    r"for all|from now on|going forward|in (?:the )?future|by default|instead of)\b|以后|每次|总是|一律|都"
)
RECALLED: Final = re.compile(
    r"(?i)^(?:do|did|don'?t) (?:you|we|i|they) (?:still )?remember\b|"
    r"^(?:can|could) (?:you|we|i|they) (?:still )?remember (?!that\b|this\b|to\b|it\b)|记得吗|还记得"
)

POLITE: Final = re.compile(
    r"(?i)^(?:(?:hey|ok(?:ay)?|and|also|so|please)[\s,]+)*(?:can|could|would|will) you (?:please |also |just |kindly )*"
    r"(?:remember|memori[sz]e|note|keep|make|save|store|add)\b|^(?:可以|能|请|麻烦).{0,4}(?:记住|记下|记一下)"
)

# Standing rules in everyday words; each is tried on a sentence without its leading condition.
STANDING: Final = (
    re.compile(r"(?i)\b(?P<time>from now on|going forward|from here on(?: out)?|henceforth|from this point on)\b"),
    re.compile(
        r"(?i)(?:^|[,;:]\s*|\b(?:and|but|so|that)\s+)(?P<group>we) (?:always|never|only(?: ever)?|don'?t ever|"
        r"do not ever)\s+(?P<verb>[a-z]+)"
    ),
    re.compile(
        r"(?i)\b(?:in|for|on) (?:this|our) (?:repo(?:sitory)?|project|codebase|team|package),?\s+"
        r"(?:(?P<group>we|you|everyone)\s+)?(?:(?:all|always|never|only|please)\s+)*(?P<verb>[a-z]+)"
    ),
    re.compile(
        r"(?i)(?:^|[,;:]\s*|\b(?:and|but|so|that)\s+)(?P<group>we) (?P<verb>use|prefer|follow|require|write|keep|"
        r"name|stick|format|test|lint|"
        r"don'?t use|do not use|avoid)\b.*\b(?:in this (?:repo(?:sitory)?|project|codebase|team)|around here|"
        r"everywhere|"
        r"throughout|by convention|exclusively|across the (?:repo|project|codebase|board)|for (?:all|every)\b)"
    ),
    re.compile(
        r"(?i)\b(?:the|our|team|project|this) (?:\w+[- ])?(?:conventions?|standards?|polic(?:y|ies)|rules?|"
        r"house style|coding style)"
        r"(?: (?:here|for this (?:repo|project)|in this (?:repo|project)))?\s*(?:is|are|:|says)\s+(?!not? |that it|"
        r"why|what|wrong|"
        r"broken|unclear|missing|triggered|firing|failing|there|durable|well-established)"
    ),
    re.compile(
        r"(?i)(?:^|[:;]\s*)(?:please\s+|so,?\s+|and\s+|also,?\s+|but\s+)*(?:always|never(?: ever)?|don'?t ever|"
        r"do not ever|under no circumstances)"
        r"\s+(?P<verb>[a-z]+)\b"
    ),
    re.compile(
        r"(?i)\b(?:you|everyone|agents?|we|developers|contributors|nobody)\b[^,.;:]{0,40} (?:should|must|need to|"
        r"have to) "
        r"(?:always|never|ever)\s+(?P<verb>[a-z]+)|\bno (?:\w+ )?(?:agent|one|developer|"
        r"contributor)\b[^,.;:]{0,30} (?:should|may|must) "
        r"ever\b"
    ),
    re.compile(
        r"(?i)\b(?:this|our|the) (?:team|project|repo(?:sitory)?|codebase) (?:always |only |never |"
        r"exclusively )?(?:uses?|follows?|"
        r"requires?|forbids?|bans?|prefers?)\b.*\b(?:exclusively|never|always|only|everywhere|throughout|for (?:all|"
        r"every))\b|"
        r"^(?:in|for) this (?:repo(?:sitory)?|project|codebase),? (?:every|all|each|any|no)\b"
    ),
    re.compile(
        r"(?i)(?:^|,\s*)(?:(?:please|and|also|so|but|honestly|personally|in general|generally|as a rule|well|"
        r"btw)[\s,]+)*"
        r"i (?:(?:always|generally|usually|strongly|really|much|personally|just) )*(?:prefer|favou?r)\b(?!\s*(?:option|"
        r"approach|the (?:first|second|third|latter|former|last|other|one)|this|that|your|it\b|number|#?\d|a\)|b\)|"
        r"we\b|not to|"
        r"if we|to (?:keep|leave|do|go|have|merge|fix|see|wait) (?:it|this|that|the|with)))"
    ),
    re.compile(
        r"(?i)\bi (?:like|love|want|need) (?:my|all my|all of my) \w+|\bi (?:don'?t like|hate|"
        r"dislike) (?:it )?when (?:you|code|tests|people)\b"
        r"|\bi (?:always|never) (?:want|use|write|like|prefer|need|commit|squash|name|put)\b"
        r"|\bi (?:like|want|need|expect) (?:you|agents?) to (?:always|never)\b|\bmy (?:preference|convention|rule) is\b"
    ),
    re.compile(
        r"(?i)\b(?:every ?time|whenever) (?:you|we|someone|anyone|an agent)\b[^,]*,\s*(?:please |you (?:must|should|"
        r"need to) )?(?P<verb>[a-z]+)"
    ),
    re.compile(
        r"(?i)(?:^|[,;:]\s*)(?:please\s+|also,?\s+)?(?:make sure|be sure|take care|ensure)"
        r"(?: (?:to|that (?:you|we)|you|we))? (?:always|never)\s+(?P<verb>[a-z]+)"
    ),
    re.compile(
        r"(?i)\b(?:we|the team)(?:'ve| have)? (?:agreed?|decided) (?:(?:to|that we|on) (?:always|never|only(?: ever)?)|"
        r"(?:always|never) to)\s+(?P<verb>[a-z]+)"
    ),
    re.compile(
        r"(?i)(?:^|[,;:]\s*)(?:as a (?:general )?rule(?: of thumb)?|by (?:convention|policy)),?\s+"
        r"(?:(?P<group>we|you|everyone) )?(?:(?:always|never|do not|don't) )?(?P<verb>[a-z]+)"
    ),
    re.compile(
        r"从现在开始|从现在起|从今以后|从今往后|今后|^以后[^，,。；;]{1,12}?(?:都|一律|统一|必须)(?:要|得|用|不|改|按|走|先|使用)|"
        r"我们(?:一直|一向|向来)都?(?:用|使用|采用|遵循)(?![^，,。；;]{0,12}的)|"
        r"以后(?:都|请|不要|别|一律|每次|所有|统一|必须|就|要|再也|,|，)|"
        r"我们(?:总是|一律|统一|都(?:用|使用|是)|(?:从来?都?|绝)不(?!知道|清楚|明白|理解|懂|会|行))|"
        r"不要再|别再|^(?:请)?一律|统一(?:使用|用|采用)|(?:永远|千万|绝对)(?:不要|别|不能)|始终(?:使用|用|要|保持)|"
        r"每次.*都?(?:要|必须|需要)|"
        r"(?:本|这个|我们)(?:项目|仓库|团队).*(?:必须|一律|禁止|统一|约定|规定|不允许)|我(?:更|比较|还是|一般)?(?:喜欢|"
        r"偏好|习惯)(?!这|那|它|他|她|你|方案|选项|第|的|了|上|吗)|(?:团队|项目|公司|仓库|我们组?)(?:里|内部?)?(?:明确)?(?:规定|约定)(?!的|了吗)|"
        r"(?:约定|规范|规矩)是"
    ),
)
# Verbs after "we always", "we never" that tell what happened or befell somebody, and not what is to be done. What
# people also do on purpose (run, work, need, find, want, get, ask) is none of them: for these, see TROUBLE.
NARRATION: Final = word_set(
    "see sees saw hit hits end ends ended fail fails have had lose lost forget forgot ran thought knew know "
    "happen happens heard hear seem seems was were is are be been feel felt found wonder expect break broke "
    "crash say said did does made came went going gonna would might can could got gets wrote works needs wants finds "
    "told took gave kept left sent meant spent began"
)
# What such a verb tells of when it is a complaint: "we always get an error", "we always run into this".
TROUBLE: Final = re.compile(
    r"(?i)(?:run|get|find|work|need|want|ask)\b(?:"
    r" (?:into|out of|late|stuck|lost|confused|blocked|bitten|burned|paged|nothing|nowhere|too)\b|"
    r" to (?:see|restart|reboot|retry|wait|guess|fight)\b|"
    r"[^,.;:]{0,40}\b(?:errors?|exceptions?|warnings?|fail\w*|bugs?|crash\w*|time-?outs?|conflicts?|problems?|"
    r"issues?|trouble|surpris\w+|answers?|response|repl(?:y|ies)|result|\d{3})\b(?! (?:before|after|when|instead)))|"
    r"(?:get|find|work|ask) (?:it|this|that|there|around|out|why|the (?:old|wrong|same))\b"
)
# Somebody else's rule, a complaint, or a story.
REPORTED: Final = re.compile(
    r"(?i)\b(?:docs?|documentation|readme|error|message|log|comments?|review(?:er)?|he|she|they|someone|copilot|"
    r"linter|it|article|"
    r"tutorial|page|spec) (?:says?|said|wrote|writes|suggests?|suggested|recommends?|claims?|told)\b|(?:他|她|文档|"
    r"报错)(?:们)?(?:说|写|提示)"
)
COMPLAINT: Final = re.compile(
    r"(?i)\b(?:crashed|crashes|failed|fails|failing|broke|stopped working|(?:doesn'?t|isn'?t|not|didn'?t|won'?t|"
    r"never) work(?:ing|s|ed)?|"
    r"wait,? no|no,? wait|scratch that)\b|报错|遇到|崩溃|出错|失败了|挂了|不行了|卡住"
)

SOMEBODY: Final = re.compile(r"(?i)\b(?:we|you|i|i'?d|everyone|agents?|all|every|no|each|only)\b")

CHOICE: Final = re.compile(
    r"(?i)\b(?:option|approach|variant|proposal|solution|alternative|number|choice|version|suggestion) (?:[a-e]\b|\d|"
    r"one|two|three)|"
    r"\b(?:the (?:first|second|third|latter|former|last|other) (?:one|option|approach)?)\b|方案"
)
TEMPORARY: Final = re.compile(
    r"(?i)\b(?:today|tonight|tomorrow|yesterday|right now|for now|just now|this time|this once|just once|"
    r"for the moment|"
    r"at the moment|temporar(?:y|ily)|for this (?:pr|pull request|commit|task|branch|session|change|ticket|fix|issue|"
    r"one|"
    r"conversation|chat|demo|release|sprint|test run|refactor\w*)|in this (?:pr|pull request|commit|branch|session|"
    r"conversation|"
    r"chat|ticket)|this (?:week|month|sprint|afternoon|morning|evening)|next (?:week|month|sprint)|"
    r"until (?!\w+ (?:pass|is green))|"
    r"in a (?:minute|moment|sec)|when (?:you'?re|you are|we'?re) (?:done|finished)|after (?:this|that|lunch|"
    r"the meeting)\b|"
    r"one-off|a one time|later)\b|(?<!from )(?<!by )\bnow[\s.!]*$|今天|今晚|明天|昨天|现在(?!开始|起)|这次|暂时|"
    r"临时|一会儿?|待会|稍后|这周|下周|本次|这个分支|等会|先这样"
)
JOKE: Final = re.compile(
    r"(?i)\b(?:just kidding|kidding|jk|j/k|lol|lmao|rofl|haha+|as a joke|joking)\b|[😂🤣😜😉]|(?:^|\s)/s\b|开玩笑|"
    r"哈哈|逗你"
)
UNSURE: Final = re.compile(
    r"(?i)^(?:maybe|perhaps|what if|i wonder|wondering|not sure|i'?m not sure|might|i guess|suppose)\b|\bif (?:we|"
    r"you|i|it|they) "
    r"(?:always|never)\b|\b(?:used to|no longer|not always|almost (?:always|never)|would (?:always|never)|"
    r"will (?:always|never)|"
    r"should (?:we|i|you)|as if|seems to|supposed to)\b|^(?:也许|可能|如果.*(?:总是|从不))"
)
CONDITION: Final = re.compile(
    r"(?i)^(?:if|when|while|once|unless|since|because|as(?! a (?:general )?rule)|after|before|although|for)\b"
    r"[^,]{3,80},\s*"
)
# A command or request about the task at hand, though it has a standing word.
ABOUT_TASK: Final = re.compile(
    r"(?i)\b(?:let'?s (?:move|continue|fix|do|add|start|try)|can you|could you|in the plan|above|below|"
    r"this (?:function|method|test|"
    r"button|dialog|message|line|file|field|class|bug|error|variable|command|endpoint|flag))\b"
)

RETRACTED: Final = re.compile(
    r"(?i)^(?:(?:no|wait|oh|ah|oops|hm+|sorry|actually|ok(?:ay)?|hold on|nah)[\s,.!—–-]+)*"
    r"(?:forget (?:that|it|this|about (?:that|it)|what i (?:just )?said(?: about (?P<topic>[^.,;:]+))?)|"
    r"scratch (?:that|it)|"
    r"never ?mind(?: that)?|ignore (?:that|what i (?:just )?said)|disregard (?:that|it)|strike that|i take (?:that|"
    r"it) back|"
    r"(?:that'?s|that was|i was|this is|it was) (?:wrong|not (?:right|true|correct)|incorrect|mistaken|a mistake)|"
    r"i misspoke|"
    r"don'?t remember (?:that|this|it)|correction)\b"
    r"|^(?:算了|不对|忘掉|忘了(?:它|那个|刚才)|说错了|我说错了|更正|收回|刚才(?:说的)?(?:不对|错了|不算)|不是(?:这样|"
    r"的))"
)
AFTER_RETRACTION: Final = re.compile(
    r"^[\s,.;:!，。；：！、—–-]*(?:(?:and|but|actually|instead|rather|it'?s|it is|应该是?|是|其实|而是|"
    r"改成)[\s,:，：]+)?",
    re.IGNORECASE,
)

WHOSE: Final = {
    "frame": re.compile(
        r"(?i)\bi (?:think|believe|guess|mean|suppose|know|said|told you|want you to|need you to|would like you to|"
        r"'d like you to|"
        r"expect you to|want (?:this|that|it) (?:to be )?remembered|had to remind)\b|\bi'?d (?:like|want|"
        r"need) you to\b|"
        r"\b(?:tell|give|show|ask|remind|let|help|trust|believe) me\b|我(?:觉得|想|认为|说过|希望你|要你)"
    ),
    "person": re.compile(r"(?i)\b(?:i|i'?m|i'?d|i'?ve|i'?ll|my|mine|me|myself|personally)\b|我(?!们|方|司)|本人|个人"),
    "group": re.compile(
        r"(?i)\b(?:we|we'?re|we'?ve|we'?ll|our|ours|us|everyone|everybody|all (?:engineers|developers|contributors|"
        r"agents)|team-wide|"
        r"(?:this|the) team|my team|my company)\b|我们|咱们|大家|团队"
    ),
    "place": re.compile(
        r"(?i)\b(?:(?:this|the|our) (?:\w+ )?(?:repo(?:sitory)?|project|codebase|package|monorepo|company|"
        r"org(?:anization)?))\b|"
        r"(?:项目|仓库|代码库|公司)"
    ),
    "only here": re.compile(
        r"(?i)\b(?:only|just) (?:here|(?:in|for|on) (?:this|the) (?:\w+ )?(?:repo(?:sitory)?|project|codebase|"
        r"package))\b|"
        r"\b(?:in|for|on) this (?:\w+ )?(?:repo(?:sitory)?|project|codebase|package)\b|\bhere only\b|"
        r"\bon this (?:repo|project)\b|"
        r"(?:仅|只|就)?(?:在|对|限)?(?:这个|本|该|此)(?:项目|仓库|代码库)"
    ),
    "manner": re.compile(
        r"(?i)\b(?:answer|reply|respond|talk|speak|write) (?:to me |me )?(?:in|with|briefly|shortly|concisely)\b|"
        r"\bbe (?:brief|concise|short|terse|more|less)\b|\bcall me\b|\b(?:address|greet) me\b|(?:用|以).{1,6}(?:回答|"
        r"回复|交流)|回答.{0,4}(?:简短|简洁)"
    ),
}
# Section of what a person asked to remember, by its first word that tells.
SECTIONS: Final = (
    ("Testing", re.compile(r"(?i)\b(?:tests?|testing|pytest|jest|vitest|nox|tox|coverage|fixtures?|mocks?)\b|测试")),
    (
        "Git",
        re.compile(
            r"(?i)\b(?:commits?|branch(?:es)?|rebase|merge|pull requests?|prs?|squash|changelog)\b|提交|分支|合并"
        ),
    ),
    (
        "Dependencies",
        re.compile(r"(?i)\b(?:npm|pnpm|yarn|bun|uv|pip|poetry|cargo|dependenc(?:y|ies)|packages?|lockfile)\b|依赖"),
    ),
    (
        "Deployment",
        re.compile(r"(?i)\b(?:deploy\w*|release\w*|staging|production|docker|kubernetes|ci)\b|部署|发布|上线"),
    ),
    (
        "Style",
        re.compile(
            r"(?i)\b(?:format\w*|lint\w*|style|naming|indent\w*|tabs?|spaces|quotes|type hints?|ruff|prettier)\b|"
            r"格式|缩进|命名|风格"
        ),
    ),
    ("Documentation", re.compile(r"(?i)\b(?:docs?|documentation|readme|docstrings?|comments?)\b|文档|注释")),
    ("Security", re.compile(r"(?i)\b(?:secrets?|credentials?|tokens?|passwords?|auth\w*)\b|密钥|密码|安全")),
)
