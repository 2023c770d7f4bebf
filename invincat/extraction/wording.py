"""The words by which a rule is told from other sentences, English and Chinese. Tables, and what reads them."""

import re
import unicodedata
from typing import Final

from invincat.extraction.sentences import split_sentences, word_set

_SAYS_NO: Final = re.compile(
    r"(?i)^[\W_]*(?:never|do not|don['’]t|avoid|no\b|not\b|stop\b|must not|should not|shouldn['’]t|cannot|can['’]t|"
    r"without|禁止|不要|切勿|[严嚴]禁|避免|不得|不允[许許]|不[应應]|不能|不可|不)"
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
_PERMISSION: Final = re.compile(r"(?i)^you (?:can|may)\b(?! (?:not|only)\b)(?!.*\b(?:must|should|only|need)\b)")
# Orders that say how things are to be, and not what to do next.
_RULE_VERBS: Final = word_set(
    "use prefer keep avoid ensure follow include favor favour limit respect maintain treat consider name document "
    "focus be always never don't do make write reuse handle have adhere please remember note"
)
_ANNOUNCING: Final = re.compile(
    r"(?i)\b(?:following|follows|below|this|these|such as|like|example|either|with|run|via|use|as)\b|"
    r"\b(?:is|are|how)\W*$|[以如]下|下[面列]|这"
)
MAX_STEP: Final = 24
MAX_FRAGMENT: Final = 8
_NAMED_THIS: Final = re.compile(
    r"(?i)^(?:this|these)\s+(?:project|repo(?:sitory)?|codebase|package|library|sdk|app(?:lication)?|module|"
    r"directory|folder|monorepo|workspace)\b"
)
_PATH_ONLY: Final = re.compile(r"`?[\w.*@/\\<>{}-]*[/.][\w.*@/\\<>{}-]*`?")
_PATH_FIRST: Final = re.compile(r"`?[\w.*@-]*[/.(][^`\s]*`?(?:\s|:|$)")
_CODE: Final = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)")
_LABEL: Final = re.compile(r"^(?P<label>[^`:：]{1,60}?)\s*(?::\s+|：\s*)(?P<rest>.+)$", re.DOTALL)
_CJK: Final = re.compile(r"[\u3400-\u9fff\u3040-\u30ff\uac00-\ud7af]")
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


def says_no(text: str) -> bool:
    """Whether a rule says by itself what not to do."""
    return bool(_SAYS_NO.search(text))


def is_binding(text: str) -> bool:
    """Whether it binds: must, never, always and their kin, outside code (FORMAT `tier`)."""
    return bool(_BINDING.search(_REASON.sub("", without_code(text))))


def is_imperative(text: str) -> bool:
    """Whether a clause of it begins with a verb that tells somebody to do something."""
    words = without_code(text)
    clauses = re.split(r"(?:^|[,:;—–]|\s-\s|\bthen\b)\s*", words)[:4]
    return not has_cjk(words) and any(_first_word(clause) in _IMPERATIVES for clause in clauses)


def _first_word(text: str) -> str:
    """The word that a text begins with, in small letters; empty when it begins with none in Latin letters."""
    found = re.match(r"[\W_]*([A-Za-z][\w'’-]*)", text)
    return found[1].lower().replace("’", "'") if found else ""


def is_order_verb(word: str) -> bool:
    """Whether a word is a verb, in the form in which it tells somebody to do something."""
    return word.lower() in _IMPERATIVES


def is_directive(text: str) -> bool:
    """Whether it tells what to do, by its verb or by a word of duty."""
    return is_duty(text) or is_imperative(text)


def is_duty(text: str) -> bool:
    """Whether a word of duty stands in it; an order alone is none."""
    return bool(_DIRECTIVE.search(without_code(text))) or is_binding(text)


def is_fact(text: str) -> bool:
    """Whether it names something of the repository and says what it is, does or where it lives."""
    return "`" in text and has_verb(text)


def has_verb(text: str) -> bool:
    """Whether it says something of something, as far as a word list can tell."""
    return bool(_FACT.search(without_code(text)))


def is_dependent(text: str) -> bool:
    """Whether it leans on the words before it."""
    if _LEANING.search(next(iter(split_sentences(text)), "")):
        return True
    return bool(_DEPENDENT.search(text)) and not names_this(text)


def is_pointing(text: str) -> bool:
    """Whether it begins by pointing at a sentence that stands elsewhere."""
    return bool(_POINTING.search(text)) and not names_this(text)


def names_this(text: str) -> bool:
    """Whether it begins with this project or a part of it, which is clear wherever it stands."""
    return bool(_NAMED_THIS.search(text))


def is_permission(text: str) -> bool:
    """Whether it only says what one may do; with a command or a name it says how."""
    return "`" not in text and bool(_PERMISSION.search(text))


def is_step(text: str) -> bool:
    """Whether it is a short order that says what to do next: no duty, no style."""
    verb = _first_word(without_code(text))
    return verb in _IMPERATIVES and verb not in _RULE_VERBS and weight(text) <= MAX_STEP and not is_duty(text)


def announces(text: str) -> bool:
    """Whether it says nothing without what is shown after it."""
    return bool(_ANNOUNCING.search(text))


def is_fragment(text: str) -> bool:
    """Whether it is a few words that say nothing without what they are listed under."""
    return not (weight(text) > MAX_FRAGMENT or has_cjk(text) or label_of(text) or is_directive(text) or has_verb(text))


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


def clean_rule(text: str) -> str:
    """A rule without the signs and numbers before it; a sign that says no becomes words."""
    says_no_by_sign = _NO_SIGN.match(text)
    start = next((place for place, char in enumerate(text) if not is_ornament(char) and char not in " -–—*•"), 0)
    text = _LINE_NUMBER.sub("", " ".join(text[start:].split()))
    return f"Don't: {text}" if says_no_by_sign and not says_no(text) else text


def is_ornament(char: str) -> bool:
    """Whether a character says nothing, such as an emoji."""
    return char in "\ufe0f\u200d\ufffd" or (unicodedata.category(char) == "So" and char not in "©®™°")
