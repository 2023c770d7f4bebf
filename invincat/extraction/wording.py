"""The words by which a rule is told from the rest of a document, English and Chinese. Tables, and what reads them."""

import re
import unicodedata
from typing import Final

from invincat.extraction.sentences import split_sentences, word_set

MAX_SECTION = 80

# What follows are examples of what was said.
_EXEMPLIFIES: Final = re.compile(
    r"(?i)[\s,;(（，]*(?:\b(?:e\.g\.?|for example|for instance)|例如|比如)\s*[:：,，]?\s*$"
)
_EXAMPLES_OF: Final = re.compile(
    r"(?i)\b(?:based on|here are(?: \w+)?|some|these|(?:the )?following|good|bad) examples?\b|\bas (?:an )?example\W*$"
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
    r"(?:(?:in order )?to\b[^,]{0,60},\s*)?(?:we|please)\b.{0,20}\bthe following(?: \w+)?\s*[:：]?|"
    r"(?:为了?[^，,]{0,30}[，,])?.{0,4}(?:做出|作出|遵循|遵守|遵照)?(?:如下|以下)(?:约定|规则|规范|要求|准则|指南)\s*[:：]?|"
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
    r"|\b(?:workflow|process|procedure|method|overview|steps|setup|release|checklist|installation|protocol|pipeline|completion|loop|"
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
    r"(?<!\bwill )(?<!\bcan )(?<!\bcould )(?<!\bmay )(?<!\balmost )(?<![-/])"
    r"\b(?:never|always)\b(?! (?:took|had|was|were|did|got)\b)"
    r"|(?<!\byou )(?<!\bwho )(?<!\bthat )(?<!\bthey )(?<!\bwe )(?<!\bif )\b(?:do not|don['’]t)\b"
    r"(?!\s+(?:need|have|worry|want|mind|hesitate|exist|matter|support|require|care|know)\b)"
    r"|必[须須]|禁止|不要|不得|[严嚴]禁|切勿|[务務]必|一律|不允[许許]|[绝絕]不|不可以|不准|(?<!可以)[强強]制(?!\s*(?:更新|推送|提交|刷新|update|push))"
)
# A reason binds nobody: "since old releases never change, ...".
_REASON: Final = re.compile(r"(?i)\b(?:since|because)\b[^,.;]*")
_DIRECTIVE: Final = re.compile(
    r"(?i)\b(?:must|should|shall|needs? to|ha(?:ve|s) to|required|prefer(?:red)?|avoid|ensure|make sure|be sure|"
    r"recommended?|conventions?|not allowed|forbidden|mandatory|by default|instead of|we use|we follow|we only|do not|"
    r"don['’]t|please|(?:is|it['’]s)(?: \w+)? (?:customary|conventional|advisable)|"
    r"(?:will not|won['’]t|cannot|can['’]t) be (?:accepted|merged|reviewed)|"
    r"belongs? (?:in|under)(?! the (?:category|group|scope)))\b"
    r"|必[须須]|禁止|不要|不得|[应應][该該]|[请請]|[务務]必|一律|[统統]一|建[议議]|推[荐薦]|避免|需要|不能|不可|不允许|不会被接受|"
    r"应(?:当|保持|使用|有|以|避免)|[须需](?:以|在|使用|包含|提供|先)|"
    r"(?:遵循|遵守|采用|使用).{0,40}(?:规范|约定|标准|风格)|"
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
# "It is customary to ..." points at nothing.
_EXPLETIVE: Final = (
    r"it(?:['’]s| is)\s+(?:\w+ly\s+|not\s+)?(?:customary|conventional|recommended|required|forbidden|mandatory|"
    r"advisable|best|better|preferable|preferred|good practice)(?:\s+\w+){0,3}?\s+(?:to|that)\b"
)
_DEPENDENT: Final = re.compile(
    rf"(?i)^[\W_]*(?!{_EXPLETIVE})(?:this|that|these|those|it|its|they|them|their|he|she|such|otherwise|however|then|instead|also|"
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
    r"|^(?:这|那|它|此|否则|但是?|因此|所以|另外|例如|比如|其中|同时|以上|以下|可能(?:需|要|会))"
)
# A sentence that points back from within; it may name its own case.
_LEANING: Final = re.compile(
    r"(?i)^(?:(?!\b(?:if|when|where|whenever|unless)\b).)*\bin (?:this|that|such a) case\b"
    r"|\bas well\W*$"
)
# Of these, what no heading can explain: it points at a sentence.
_POINTING: Final = re.compile(
    rf"(?i)^[\W_]*(?!{_EXPLETIVE})(?:this|that|these|those|it|its|they|them|their|he|she|such|both|here)\b|^(?:这|那|它)"
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
# What a lead-in says of all its items at once.
_CONJUNCTION: Final = re.compile(
    r"(?i)\ball (?:of )?(?:(?:the|these) )?(?:following )?(?:conditions|criteria|of the following|hold|apply|"
    r"are (?:met|true))\b|\ball of the following\b|同时满足|全部满足"
)
_ANNOUNCING: Final = re.compile(
    r"(?i)\b(?:following|follows|below|this|these|such as|like|example|either|with|run|via|use|as)\b|"
    r"\b(?:is|are|how)\W*$|[以如]下|下[面列]|这"
)
MAX_STEP: Final = 24
MAX_FRAGMENT: Final = 8
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


def is_exemplifying(words: str) -> bool:
    """Whether what follows are examples of it."""
    return bool(_EXEMPLIFIES.search(words) or _EXAMPLES_OF.search(words))


def without_example(words: str) -> str:
    """The words without an announcement of examples at their end."""
    return _EXEMPLIFIES.sub("", words)


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
    return bool(_BINDING.search(_REASON.sub("", without_code(text))))


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


def is_conjunction(lead: str) -> bool:
    """Whether what it leads into holds only together."""
    return bool(_CONJUNCTION.search(lead))


def announces(text: str) -> bool:
    """Whether it says nothing without what is shown after it."""
    return bool(_ANNOUNCING.search(text))


def is_duty(text: str) -> bool:
    """Whether a word of duty stands in it; an order alone is none."""
    return bool(_DIRECTIVE.search(without_code(text))) or is_binding(text)


def is_fragment(text: str) -> bool:
    """Whether it is a few words that say nothing without what they are listed under."""
    return not (weight(text) > MAX_FRAGMENT or has_cjk(text) or label_of(text) or is_directive(text) or has_verb(text))


def is_choice(name: str, text: str) -> bool:
    """Whether an item is one of the names that a list called `name` offers ("Type of change", "Bug fix")."""
    return (
        bool(_CHOICES.search(name)) and weight(text) <= 4 and not re.search("[`:：]", text) and not is_directive(text)
    )


def is_condition(heading: str) -> bool:
    """Whether a heading says when what stands below it holds."""
    return bool(_CONDITION.search(heading))


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
