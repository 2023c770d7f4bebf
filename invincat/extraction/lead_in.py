"""What a lead-in, a heading or the words before a list, says of what follows it, English and Chinese."""

import re
from typing import Final

from invincat.extraction.wording import is_directive, is_ornament, names_this, weight

MAX_SECTION: Final = 80

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
# A lead-in that only points back at the words before it.
_BACK: Final = re.compile(
    r"(?i)^[\W_]*(?:as such|any such|such|therefore|thus|hence|accordingly|this|that|these|those|it|they|both)\b"
)
_ADDING: Final = re.compile(r"(?i)^(?:in addition to|besides|apart from) (?:the above|this|that|these|those)\b")
MAX_BACK: Final = 6
# Headings and lead-ins of lists that are the steps of one task, though nobody numbered them. Topics ("Testing",
# "Writing tests") are none: what stands below them are rules.
_TASK: Final = re.compile(
    r"(?i)^(?:to\s+(?!be\b)\w+|how to\b|(?:adding|backporting|releasing|cutting|publishing|deploying|upgrading|"
    r"bumping|porting|installing|setting up|syncing|migrating)\b)|\b(?:steps|procedure|walkthrough)$|步骤$|流程$"
)
# What a lead-in says of all its items at once.
_CONJUNCTION: Final = re.compile(
    r"(?i)\ball (?:of )?(?:(?:the|these) )?(?:following )?(?:conditions|criteria|of the following|hold|apply|"
    r"are (?:met|true))\b|\ball of the following\b|同时满足|全部满足"
)
# Names of lists whose items are names to choose from.
_CHOICES: Final = re.compile(
    r"(?i)(?:\btypes?|\bkinds?|\bcategor(?:y|ies)|\bstatus(?:es)?|类型|类别|分类|状态|选项)$|^(?:types?|kinds?) of \w+$"
)
# A heading that is a condition belongs to every rule below it.
_CONDITION: Final = re.compile(
    r"(?i)^(?:when|before|after|while|if|during|whenever|once|unless|for)\b(?!.*\?$)|(?:之前|之后|时|的时候)$"
)
_NUMBERING: Final = re.compile(
    r"^(?:(?:step|phase|part|section|chapter|rule)\s+\d+\s*[:.)–-]?\s+|\(?\d{1,2}(?:\.\d{1,2})*[.):、]\s*|"
    r"\d{1,2}(?:\.\d{1,2})+\s+|"
    r"[一二三四五六七八九十]+[、.．]\s*|第\s*[一二三四五六七八九十\d]+\s*[章节部分条步][:：、]?\s*|[IVX]{1,4}\.\s+|"
    r"[A-Z]\.\s+)",
    re.IGNORECASE,
)


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


def is_procedure(words: str) -> bool:
    """Whether a heading or lead-in announces steps that belong together."""
    return bool(_PROCEDURE.search(words))


def is_gotcha(words: str) -> bool:
    """Whether it announces a trap."""
    return bool(_GOTCHA.search(words))


def is_layout(heading: str) -> bool:
    """Whether it announces where things are."""
    return bool(_LAYOUT.search(heading))


def points_back(lead: str) -> bool:
    """Whether a lead-in only points at the words before it, and neither orders nor forbids anything."""
    return bool(_ADDING.search(lead)) or (
        bool(_BACK.search(lead))
        and weight(lead) <= MAX_BACK
        and not (names_this(lead) or is_directive(lead) or is_negative(lead))
    )


def is_task(words: str) -> bool:
    """Whether a heading or lead-in names a task, so that a list of orders below it is how it is done."""
    return bool(_TASK.search(words.rstrip(":： ")))


def is_conjunction(lead: str) -> bool:
    """Whether what it leads into holds only together."""
    return bool(_CONJUNCTION.search(lead))


def is_choice(name: str, text: str) -> bool:
    """Whether an item is one of the names that a list called `name` offers ("Type of change", "Bug fix")."""
    return (
        bool(_CHOICES.search(name)) and weight(text) <= 4 and not re.search("[`:：]", text) and not is_directive(text)
    )


def is_condition(heading: str) -> bool:
    """Whether a heading says when what stands below it holds."""
    return bool(_CONDITION.search(heading))


def clean_heading(text: str) -> str:
    """A heading without numbering, emoji and final colon; may be empty."""
    text = "".join(char for char in text if not is_ornament(char)).strip()
    text = _NUMBERING.sub("", text, count=1).strip(" \t:：-–—*_#")
    if len(text) <= MAX_SECTION:
        return text
    return text[:MAX_SECTION].rsplit(" ", 1)[0].rstrip(" ,;:-–—")
