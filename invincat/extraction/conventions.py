"""Rules that a repository already writes down for people and agents (CLI `import`, RULES 5.5)."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Final

from invincat.extraction import lead_in, wording
from invincat.extraction.folding import LEAST_TOLD, MAX_RULE, grouped, unfolded, with_commands
from invincat.extraction.markup import Heading, Passage, Statement, headings_of, statements
from invincat.extraction.noise import is_boilerplate_section, is_invitation, kind_of_noise
from invincat.extraction.sentences import split_sentences, word_set
from invincat.memory.content import normalise, one_line
from invincat.memory.entry import MAX_LABEL, MAX_LABELS, Kind
from invincat.memory.evidence import MAX_EVIDENCE, MAX_QUOTE, is_inside
from invincat.memory.naming import section_slug

MAX_LEAD = 140
# A sentence of fewer words is a remark on its neighbours.
LEAST_FACT = 6
# An order of fewer words is told with its heading.
LEAST_ALONE = 3
GENERAL = "General"

# Name of the file, folder it must stand in ("" for any). The order is that in which files of one folder are read.
FILES: Final = (
    ("AGENTS.md", ""),
    ("CLAUDE.md", ""),
    ("GEMINI.md", ""),
    ("CONTRIBUTING", ""),
    ("CONTRIBUTING*.md", ""),
    ("CONTRIBUTING*.rst", ""),
    ("CONTRIBUTING*.txt", ""),
    ("contributing.md", ""),
    ("copilot-instructions.md", ".github"),
    (".cursorrules", ""),
    ("*.mdc", ".cursor/rules"),
    ("*.md", ".cursor/rules"),
)
# Folders whose files are somebody else's, generated, or material of tests.
FOREIGN: Final = word_set(
    "vendor vendored _vendor third_party third-party thirdparty node_modules bower_components site-packages venv .venv "
    "env .tox .nox dist target external externals fixtures __fixtures__ fixture testdata test_data test-data "
    "snapshots __snapshots__ .git"
)
# These files speak for the folder they stand in.
_LOCAL: Final = frozenset({"AGENTS.md", "CLAUDE.md", "GEMINI.md"})
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufffe\uffff\ufeff]")
_FRONT_MATTER: Final = re.compile(r"\A\ufeff?---[ \t]*\n(?P<keys>.*?)^---[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_GLOBS: Final = re.compile(r"^globs[ \t]*:[ \t]*(?P<inline>[^\n]*)(?P<items>(?:\n[ \t]*-[ \t]+[^\n]*)*)", re.MULTILINE)
_EVERYWHERE: Final = frozenset({"*", "**", "**/*", "*.*", "**/*.*", "/**"})


@dataclass(frozen=True)
class Quote:
    """Literal words (space folded, at most 200 characters) of lines `first_line` to `last_line` of a file."""

    first_line: int
    last_line: int
    words: str


@dataclass(frozen=True)
class Rule:
    """One rule of a file.

    `support`: further quotes it rests on (the rest of a long rule, its lead-in, its command). `is_quoted_whole`: a
    change of any of its words changes a quote.
    """

    text: str
    section: str
    first_line: int
    last_line: int
    quote: str
    binding: bool
    globs: tuple[str, ...] = ()
    kind: Kind = Kind.CONVENTION
    support: tuple[Quote, ...] = ()
    is_quoted_whole: bool = True

    @property
    def quotes(self) -> tuple[Quote, ...]:
        """All quotes, the rule's own words first; at most three (FORMAT `source.evidence`)."""
        return (Quote(self.first_line, self.last_line, self.quote), *self.support)


def convention_files(paths: Iterable[str]) -> list[str]:
    """The convention files among the paths of a repository: outer folders first, then as in `FILES`, then by path."""
    ranked = sorted(
        (path.count("/"), path.rpartition("/")[0], rank, path)
        for path in set(paths)
        if (rank := _rank(path)) is not None
    )
    return [path for *_, path in ranked]


def rules_in(text: str, path: str) -> list[Rule]:
    """The rules of one convention file, in its order, each once.

    Every rule stands alone: lead-in and parent item are in its text, and what stands under "Don't" says so. Code,
    tables, links, boilerplate and the block that `export` writes are none. Never raises, whatever the text.
    """
    text = text.replace("\r\n", "\n").replace("\r", " ")
    globs, body = _front_matter(text)
    globs = globs or _folder_globs(path)
    found = statements(body, rst=path.endswith(".rst"))
    title = _title(headings_of(found))
    rules: dict[str, Rule] = {}
    for statement in grouped(unfolded(found)):
        rule = _rule(statement, title, globs)
        if rule is not None:
            rules.setdefault(normalise(rule.text), rule)
    return list(rules.values())


def _rank(path: str) -> int | None:
    folder, _, name = path.rpartition("/")
    if not FOREIGN.isdisjoint(folder.split("/")):
        return None
    for rank, (pattern, where) in enumerate(FILES):
        if fnmatchcase(name, pattern) and (not where or f"/{folder}/".find(f"/{where}/") >= 0):
            return rank
    return None


def _front_matter(text: str) -> tuple[tuple[str, ...], str]:
    """The globs of an `.mdc` head (`globs: **/*` is no YAML, so it is read by hand), and the text with it emptied."""
    found = _FRONT_MATTER.match(text)
    if not found:
        return (), text
    body = "\n" * found[0].count("\n") + text[found.end() :]
    globs = _GLOBS.search(found["keys"])
    if not globs:
        return (), body
    words = [*re.split(r",(?![^{]*\})", globs["inline"].strip().strip("[]")), *globs["items"].split("\n")]
    patterns = (word.strip().removeprefix("- ").strip().strip("\"'").removeprefix("./").lstrip("/") for word in words)
    return _labels(pattern for pattern in patterns if pattern not in _EVERYWHERE), body


def _folder_globs(path: str) -> tuple[str, ...]:
    folder, _, name = path.rpartition("/")
    folder = re.sub(r"(?:^|/)\.cursor/rules(?:/.*)?$", "", folder) if ".cursor/rules" in folder else folder
    if not folder or not (name in _LOCAL or "/.cursor/rules/" in path):
        return ()
    return _labels([re.sub(r"([\[*?])", r"[\1]", folder) + "/**"])


def _labels(patterns: Iterable[str]) -> tuple[str, ...]:
    """Those that a memory can have in `applies_to`."""
    fit = (one for one in patterns if one and len(one) <= MAX_LABEL and not _CONTROL.search(one) and is_inside(one))
    return tuple(dict.fromkeys(fit))[:MAX_LABELS]


def _title(headings: Sequence[Heading]) -> int | None:
    """The line of the heading that is the document's title: the only one of level 1, when there are deeper ones."""
    tops = [heading for heading in headings if heading.level == 1]
    return tops[0].passage.first_line if len(tops) == 1 and len(headings) > 1 else None


def _rule(statement: Statement, title: int | None, globs: tuple[str, ...]) -> Rule | None:
    headings = [heading for heading in statement.headings if heading.passage.first_line != title]
    names = [lead_in.clean_heading(heading.passage.text) for heading in headings]
    around = [*names, *(lead_in.clean_heading(lead.text) for lead in statement.leads)]
    if any(map(is_boilerplate_section, around)) or statement.passage.is_link:
        return None
    own = _own(statement)
    if (
        any(is_invitation(lead.text) or lead_in.is_exemplifying(lead.text) for lead in statement.leads)
        or not _is_rule(statement, own)
        or _is_choice(statement, around, own)
    ):
        return None
    context = _context(statement, own, headings)
    if context is None:
        return None
    text = _cut(_compose([passage.text for passage in context], own))
    if (
        wording.weight(text) + text.count("`") // 2 < LEAST_TOLD
        or _CONTROL.search(text)
        or not statement.passage.literal
    ):
        return None
    quotes, is_quoted_whole = _quotes(statement.passage, [*filter(None, [statement.commands]), *reversed(context)])
    if any(_CONTROL.search(quote.words) for quote in quotes):
        return None
    binding = wording.is_binding(text)
    return Rule(
        text=text,
        section=_section(names),
        first_line=statement.passage.first_line,
        last_line=statement.passage.last_line,
        quote=quotes[0].words,
        binding=binding,
        globs=globs,
        kind=Kind.CONSTRAINT if binding else _kind(statement, own, names),
        support=quotes[1:],
        is_quoted_whole=is_quoted_whole,
    )


def _own(statement: Statement) -> str:
    """Its own words, with its commands; what only shows how a duty is done is left away with its colon."""
    own = with_commands(statement)
    words = own.rstrip(":： ")
    if words == own or statement.is_item or not wording.is_duty(words) or wording.announces(words):
        return own
    return words if wording.weight(words) >= LEAST_FACT else own


def _is_choice(statement: Statement, around: Sequence[str], own: str) -> bool:
    """Whether it only offers names to choose from: `Type of change: bug fix; new feature`."""
    return statement.is_item and bool(around) and all(lead_in.is_choice(around[-1], part) for part in own.split("; "))


def _section(names: Sequence[str]) -> str:
    """The nearest heading that says something and can name a folder."""
    telling = (name for name in reversed(names) if name and not lead_in.is_hollow(name))
    return next((name for name in telling if section_slug(name) and not _CONTROL.search(name)), GENERAL)


def _is_rule(statement: Statement, own: str) -> bool:
    if not own or kind_of_noise(own) or wording.is_path_only(own) or wording.is_pointing(own):
        return False
    if statement.is_item:
        if statement.leads and not statement.leads[-1].text.endswith((":", "：")) and wording.is_permission(own):
            return False
        return not (statement.is_parent and _only_introduces(own)) and not own.endswith((":", "："))
    if (
        own.endswith((":", "："))
        or wording.is_dependent(own)
        or wording.weight(own) + own.count("`") // 2 < LEAST_ALONE
    ):
        return False
    return wording.is_directive(own) or (wording.is_fact(own) and wording.weight(own) >= LEAST_FACT)


def _only_introduces(own: str) -> bool:
    """Whether a parent item says nothing without its items."""
    return own.endswith((":", "：")) or (wording.weight(own) <= 4 and not wording.is_directive(own))


def _context(statement: Statement, own: str, headings: Sequence[Heading]) -> list[Passage] | None:
    """The passages to put before a rule so that it stands alone, from the outside in; None when it cannot."""
    leads = [lead for lead in statement.leads if not lead_in.is_hollow(lead_in.clean_heading(lead.text))]
    if wording.says_no(own):
        leads = [lead for lead in leads if not lead_in.is_bare_negative(lead.text)]
    # "As such, any such fixes:" says nothing without the words before it; the heading does.
    telling_leads = [lead for lead in leads if not lead_in.points_back(lead.text)]
    is_hanging = len(telling_leads) < len(leads)
    leads = telling_leads
    context = leads[-2:]
    around = [heading.passage for heading in headings]
    speaks = wording.says_no(own) or wording.is_ticked(statement.passage.text)
    if not speaks and (no := _negative_heading(leads, around)) is not None:
        return [no, *context]
    if context:
        return context
    if around and lead_in.is_condition(lead_in.clean_heading(around[-1].text)):
        return [around[-1]]
    if not is_hanging and not _needs_context(statement, own):
        return []
    telling = [passage for passage in around if not lead_in.is_hollow(lead_in.clean_heading(passage.text))]
    return telling[-1:] or ([] if wording.weight(own) + own.count("`") // 2 >= LEAST_TOLD else None)


def _negative_heading(leads: Sequence[Passage], around: Sequence[Passage]) -> Passage | None:
    """The heading that turns a rule into what not to do, unless something nearer speaks."""
    for passage in reversed([*around, *leads]):
        if lead_in.is_negative(passage.text):
            return passage if passage in around else None
        if lead_in.is_positive(passage.text):
            return None
    return None


def _needs_context(statement: Statement, own: str) -> bool:
    if statement.steps or wording.is_dependent(own):
        return True
    if wording.is_imperative(own):
        return "`" not in own and wording.weight(own) < LEAST_ALONE
    if wording.weight(own) < LEAST_ALONE + (not wording.has_cjk(own)) and not wording.label_of(own):
        return True
    speaks = wording.is_directive(own) or wording.has_verb(own) or wording.begins_with_path(own)
    return not speaks and not wording.has_cjk(own)


def _compose(context: Sequence[str], own: str) -> str:
    parts = [part for words in context if (part := _lead(words))]
    first = own.split(" ", maxsplit=1)[0]
    if parts and wording.is_imperative(first) and not first.isupper():
        own = own[0].lower() + own[1:]
    return ": ".join([*parts, own])


def _lead(words: str) -> str:
    """A lead-in, short: without ornament and colon, its last sentence, cut at a word."""
    words = lead_in.clean_heading(words) if len(words) <= lead_in.MAX_SECTION else wording.clean_rule(words)
    words = words.rstrip(":：,，.。 ")
    if len(words) > MAX_LEAD and not wording.is_dependent(last := split_sentences(words)[-1]):
        words = last
    if len(words) <= MAX_LEAD:
        return words
    return words[:MAX_LEAD].rsplit(" ", 1)[0].rstrip(",;:") + "…"


def _cut(text: str) -> str:
    if len(text) <= MAX_RULE:
        return text
    head = text[: MAX_RULE - 1]
    stop = max(head.rfind(". "), head.rfind("。"), head.rfind("; "))
    return head[: stop + 1] if stop > MAX_RULE // 2 else head.rsplit(" ", 1)[0] + "…"


def _quotes(own: Passage, others: Sequence[Passage]) -> tuple[tuple[Quote, ...], bool]:
    """What the rule rests on: its own words, then the command and lead-in, as far as there is room; whether all is."""
    mine = [Quote(own.first_line, own.last_line, words) for words in _pieces(own.literal)]
    support = [Quote(one.first_line, one.last_line, next(_pieces(one.literal))) for one in others if one.literal]
    room = MAX_EVIDENCE - min(len(support), 1)
    quotes = tuple([*mine[:room], *support][:MAX_EVIDENCE])
    is_whole = own.is_whole and len(quotes) == len(mine) + len(others)
    return quotes, is_whole and all(one.is_whole and len(one.literal) <= MAX_QUOTE for one in others)


def _pieces(words: str) -> Iterator[str]:
    """Consecutive pieces of at most 200 characters, cut at words."""
    words = one_line(words)
    while len(words) > MAX_QUOTE:
        space = words.rfind(" ", 0, MAX_QUOTE + 1)
        cut = space if space > MAX_QUOTE // 2 else MAX_QUOTE
        yield words[:cut].strip()
        words = words[cut:].strip()
    yield words


def _kind(statement: Statement, own: str, names: Sequence[str]) -> Kind:
    nearest = names[-1] if names else ""
    label = wording.label_of(own)
    if lead_in.is_gotcha(nearest) or (label and lead_in.is_gotcha(label[0])):
        return Kind.GOTCHA
    if statement.steps or statement.commands:
        return Kind.RUNBOOK
    return Kind.REFERENCE if own.startswith("`") and lead_in.is_layout(nearest) else Kind.CONVENTION
