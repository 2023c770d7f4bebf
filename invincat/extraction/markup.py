"""The statements of a document with what gives them meaning: headings, lead-ins, parent items, shown commands.

Block structure comes from markdown-it-py (CommonMark); every passage knows its lines and its literal words.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markdown_it.tree import SyntaxTreeNode

from invincat.extraction.lead_in import is_exemplifying
from invincat.extraction.sentences import sentence_spans, word_set
from invincat.memory.content import one_line

MAX_COMMANDS = 3
MAX_COMMAND = 160
# A list without numbers and of fewer items is no procedure.
LEAST_STEPS = 3
# Levels of lines that work as headings, below the six real ones.
BOLD_LINE = 7
TITLE_LINE = 8

_SHELLS: Final = frozenset({"sh", "bash", "shell", "zsh", "console", "shell-session", "terminal", "fish"})
# First words of commands in a block that names no language.
_TOOLS: Final = word_set(
    "bun bundle cargo cmake composer dart deno docker dotnet flutter git go gradle hatch just make mise mix mvn ninja "
    "node nox npm npx pdm pip pip3 pipx pnpm poetry pre-commit pytest python python3 rake ruff rye swift task tox "
    "uv uvx yarn ./gradlew ./mvnw"
)
_LISTS: Final = frozenset({"bullet_list", "ordered_list"})
_PATTERNS: Final = {
    "exported": re.compile(r"<!-- invincat:begin -->.*?(?:<!-- invincat:end -->|\Z)", re.DOTALL),
    "tag line": re.compile(r"^[ \t]*</?[A-Za-z][\w-]*(?:[ \t][^<>\n]*)?>[ \t]*$", re.MULTILINE),
    "html heading": re.compile(
        r"^[ \t]*<h(?P<level>[1-6])(?:\s[^<>\n]*)?>(?P<words>[^<>\n]+)</h(?P=level)>[ \t]*$", re.MULTILINE
    ),
    "comment title": re.compile(r"^//[ \t]*(?=[A-Z])", re.MULTILINE),
    "callout": re.compile(r"\A\[!\w+\][ \t]*\n?"),
    "checkbox": re.compile(r"\A\[[ xX]\]\s+"),
    "marker": re.compile(r"\A(?:\s*(?:>|[-*+]\s|(?:\d{1,9}[.)]|#\.)\s))*\s*(?:\[[ xX]\]\s)?\s*"),
    "bold line": re.compile(r"(?:\*\*|__)[^*_\n]+?(?:\*\*|__)\s*[:：]?"),
    "introduces": re.compile(r"(?:[:：]|\b(?:run|running|use|execute|with|by|via|command))\s*$", re.IGNORECASE),
    "prompt": re.compile(r"\A(?:\$|>|%)\s+"),
    "blank to fill": re.compile(
        r"<(?!(?:a|abbr|b|big|br|cite|code|del|details|div|em|font|hr|i|img|ins|kbd|li|mark|ol|p|picture|pre|q|s|samp|"
        r"small|source|span|strike|strong|sub|summary|sup|table|tbody|td|th|tr|tt|u|ul|var|video|wbr)>)[a-z][\w-]*>",
        re.IGNORECASE,
    ),
    "stray": re.compile(r"\*\*|(?<!\w)__|__(?!\w)"),
    "rst underline": re.compile(r"([~^\"'`*+#.:_=-])\1{2,}\s*"),
    "rst note": re.compile(
        r"\s*\.\.\s+(?:note|warning|important|tip|caution|attention|hint|danger)::[ \t]*(?P<words>.*)"
    ),
    "rst number": re.compile(r"^([ \t]*)#\.(?=[ \t])", re.MULTILINE),
    "rst directive": re.compile(r"\s*\.\.(?:\s.*)?"),
    "rst link": re.compile(r"`([^`<]+?)\s*<[^`>]+>`__?"),
    "rst role": re.compile(r":[a-z:]+:(?=`)|(?<=`)__?(?!\w)"),
}
_BEGINS_LINE: Final = re.compile(r"[*_`]{0,3}(?:[A-Z]|\d{1,2}[*_]{0,2}[.)]?\s)")
_MARKDOWN: Final = MarkdownIt("commonmark").enable("table")


@dataclass(frozen=True)
class Passage:
    """Words of a document: `text` without markup, `literal` as written (space folded), lines 1-based inclusive.

    `is_whole`: `literal` is all of it, and the next sentence's may be put after it.
    """

    text: str
    literal: str
    first_line: int
    last_line: int
    is_link: bool = False
    is_whole: bool = True


@dataclass(frozen=True)
class Heading:
    """A heading of level 1 to 6, or a line that works as one (`BOLD_LINE`, `TITLE_LINE`)."""

    level: int
    passage: Passage


@dataclass(frozen=True)
class Statement:
    """A list item or a sentence of prose, with its context from the outside in.

    `is_parent`: other items hang on it. `commands`: the shell block that follows it, each command as a code span.
    `paragraph` numbers the paragraph of a sentence. A list that may be a procedure (a numbered one, or a flat one of
    three items or more) is one statement more, with its items in `steps` and everything in it in `inside`.
    """

    passage: Passage
    headings: tuple[Heading, ...] = ()
    leads: tuple[Passage, ...] = ()
    is_item: bool = False
    is_parent: bool = False
    paragraph: int = 0
    commands: Passage | None = None
    steps: tuple["Statement", ...] = ()
    inside: tuple["Statement", ...] = ()
    is_numbered: bool = False


def statements(text: str, *, rst: bool = False) -> list[Statement]:
    """All statements of a document, in its order; code, tables, comments and headings are none."""
    text = text.replace("\r\n", "\n").replace("\r", " ").removeprefix("\ufeff")
    lines = text.split("\n")
    source = _blank(text, "exported")
    source = _rst_as_markdown(source) if rst else _blank(source, "tag line")
    source = _PATTERNS["html heading"].sub(
        lambda found: f"{'#' * int(found['level'])} {found['words'].strip()}", source
    )
    source = _PATTERNS["comment title"].sub("#### ", source)
    reader = _Reader(lines, rst=rst)
    reader.read(SyntaxTreeNode(_MARKDOWN.parse(source, reader.targets)).children, (), ())
    return reader.found


def headings_of(found: Sequence[Statement]) -> list[Heading]:
    """The headings that statements stand under, each once."""
    return list({heading.passage.first_line: heading for one in found for heading in one.headings}.values())


def plain(words: str) -> str:
    """Inline markdown reduced to plain words; code spans keep their backticks."""
    return _plain(words)[0]


@dataclass
class _Reader:
    lines: list[str]
    rst: bool = False
    # What `[words][label]` and `[label]` link to, as the parser found it.
    targets: dict[str, object] = field(default_factory=dict)
    found: list[Statement] = field(default_factory=list)
    paragraphs: int = 0

    def read(
        self, nodes: Sequence[SyntaxTreeNode], headings: tuple[Heading, ...], leads: tuple[Passage, ...]
    ) -> tuple[Heading, ...]:
        """Collect the statements of sibling blocks; returns the headings that hold after them."""
        lead_in: tuple[Passage, ...] = ()
        for node, after in zip(nodes, [*nodes[1:], None], strict=False):
            introduces, lead_in = lead_in, ()
            if node.type == "heading":
                headings = _below(headings, Heading(int(node.tag[1:]), self._block(node)))
            elif node.type == "paragraph":
                headings, lead_in = self._paragraph(node, after, headings, leads)
            elif node.type in _LISTS:
                self._list(node, headings, (*leads, *introduces))
            elif node.type == "blockquote":
                self.read(node.children, headings, leads)
        return headings

    def _paragraph(
        self,
        node: SyntaxTreeNode,
        after: SyntaxTreeNode | None,
        headings: tuple[Heading, ...],
        leads: tuple[Passage, ...],
    ) -> tuple[tuple[Heading, ...], tuple[Passage, ...]]:
        """Sentences become statements; a line that works as a heading, or leads into a list, becomes context."""
        pieces = self._sentences(node)
        before_list = after is not None and after.type in _LISTS
        if level := _heading_level(_content(node), before_list=before_list):
            return _below(headings, Heading(level, self._block(node))), ()
        lead_in: tuple[Passage, ...] = ()
        if pieces and before_list and is_exemplifying(pieces[-1].text):
            lead_in = (pieces[-1],)
        elif pieces and before_list and pieces[-1].text.endswith((":", "：", ",", "，")):
            lead_in = (pieces.pop(),)
        self.paragraphs += 1
        commands = self._commands(after) if pieces and _PATTERNS["introduces"].search(pieces[-1].text) else None
        for piece in pieces:
            self.found.append(
                Statement(
                    passage=piece,
                    headings=headings,
                    leads=leads,
                    paragraph=self.paragraphs,
                    commands=commands if piece is pieces[-1] else None,
                )
            )
        return headings, lead_in

    def _list(self, node: SyntaxTreeNode, headings: tuple[Heading, ...], leads: tuple[Passage, ...]) -> None:
        before = len(self.found)
        steps = [step for item in node.children if (step := self._item(item, headings, leads))]
        is_numbered = node.type == "ordered_list"
        if len(steps) > 1 if is_numbered else len(steps) >= LEAST_STEPS and not any(step.is_parent for step in steps):
            inside = tuple(self.found[before:])
            whole = self._block(node)
            self.found[before:] = [
                Statement(
                    whole, headings, leads, is_item=True, steps=tuple(steps), inside=inside, is_numbered=is_numbered
                ),
            ]

    def _item(
        self, node: SyntaxTreeNode, headings: tuple[Heading, ...], leads: tuple[Passage, ...]
    ) -> Statement | None:
        children = node.children
        if not children or children[0].type != "paragraph":
            self.read(children, headings, leads)
            return None
        passage = self._block(children[0])
        rest = children[1:]
        statement = Statement(
            passage=passage,
            headings=headings,
            leads=leads,
            is_item=True,
            is_parent=any(child.type in _LISTS for child in rest),
            commands=self._commands(rest[0] if rest else None),
        )
        self.found.append(statement)
        self.read(rest, headings, (*leads, passage))
        return statement

    def _commands(self, node: SyntaxTreeNode | None) -> Passage | None:
        """The commands of a short shell block; None when it is anything else."""
        if node is None or node.type != "fence" or node.map is None:
            return None
        language = node.info.strip().split(" ")[0].lower()
        if language and language not in _SHELLS:
            return None
        first, last = node.map[0] + 1, node.map[1] - 1
        lines = [_PATTERNS["prompt"].sub("", one_line(line)) for line in self.lines[first:last]]
        found = [line for line in lines if line and not line.startswith("#")]
        if not 1 <= len(found) <= MAX_COMMANDS or any(len(line) > MAX_COMMAND or "`" in line for line in found):
            return None
        if not language and any(line.split(" ")[0] not in _TOOLS for line in found):
            return None
        text = ", then ".join(f"`{line}`" for line in found)
        return Passage(text, one_line(" ".join(self.lines[first:last])), first + 1, last)

    def _block(self, node: SyntaxTreeNode) -> Passage:
        """The whole of a block as one passage."""
        first, last = node.map or (0, 1)
        lines = self.lines[first:last]
        while len(lines) > 1 and not lines[-1].strip():
            lines.pop()
        literal = one_line(_PATTERNS["marker"].sub("", " ".join(lines)))
        text, is_link = self._reduce(_content(node))
        return Passage(text, literal, first + 1, first + len(lines), is_link)

    def _sentences(self, node: SyntaxTreeNode) -> list[Passage]:
        content, first = _content(node), (node.map or (0, 1))[0]
        # A call-out's label is a line of its own and no sentence.
        label = _PATTERNS["callout"].match(content)
        offset = label.end() if label else 0
        spans = _line_spans(content, offset) or [
            (start + offset, end + offset) for start, end in sentence_spans(content[offset:])
        ]
        return [self._piece(content, start, end, first) for start, end in spans]

    def _piece(self, content: str, start: int, end: int, first: int) -> Passage:
        begin = first + content.count("\n", 0, start)
        last = first + content.count("\n", 0, end)
        raw = one_line(" ".join(self.lines[begin : last + 1]))
        literal = one_line(content[start:end])
        is_whole = literal in raw
        if not is_whole:
            # Markers of an outer block stand between the lines: the longest line is what can be found.
            literal = max((one_line(line) for line in content[start:end].split("\n")), key=len)
            literal = literal if literal in raw else ""
        text, is_link = self._reduce(content[start:end])
        # In a block quote a marker follows it before the next line's sentence.
        in_quote = self.lines[last].lstrip().startswith(">")
        return Passage(text, literal, begin + 1, last + 1, is_link, is_whole and not in_quote)

    def _reduce(self, words: str) -> tuple[str, bool]:
        words = _PATTERNS["checkbox"].sub("", _PATTERNS["callout"].sub("", words))
        if self.rst:
            words = _PATTERNS["rst link"].sub(r"\1", words)
            words = _PATTERNS["rst role"].sub("", words).replace("``", "`")
        return _plain(words, self.targets)


def _content(node: SyntaxTreeNode) -> str:
    return "".join(child.content for child in node.children if child.type == "inline")


def _below(headings: tuple[Heading, ...], new: Heading) -> tuple[Heading, ...]:
    return (*(heading for heading in headings if heading.level < new.level), new)


def _heading_level(content: str, *, before_list: bool) -> int | None:
    """Whether a paragraph is one line that works as a heading, and at which level."""
    content = content.strip()
    if "\n" in content or not content:
        return None
    inner = content.strip("*_ ")
    if _PATTERNS["bold line"].fullmatch(content) and not inner.endswith((".", "!", "?", "。")):
        return None if before_list and content.rstrip("*_").endswith((":", "：")) else BOLD_LINE
    is_title = before_list and len(content.split()) <= 7 and content[0].isupper() and content[-1].isalnum()
    return TITLE_LINE if is_title and "`" not in content else None


def _line_spans(content: str, offset: int) -> list[tuple[int, int]]:
    """Lines as statements, where people left the bullets away; empty when the paragraph is running text."""
    lines = content[offset:].split("\n")
    if len(lines) < 2 or not all(_BEGINS_LINE.match(line) and len(line) < 300 for line in lines):
        return []
    if any(line.rstrip().endswith((",", "，", " and", " or", " the")) for line in lines):
        return []
    spans = []
    for line in lines:
        spans += [(offset + start, offset + end) for start, end in sentence_spans(line)]
        offset += len(line) + 1
    return spans


def _plain(words: str, targets: Mapping[str, object] | None = None) -> tuple[str, bool]:
    """Plain words, and whether all of them are links."""
    tokens = _MARKDOWN.parseInline(words, {**targets} if targets else None)
    parts: list[str] = []
    outside: list[str] = []
    depth = 0
    for token in tokens[0].children or [] if tokens else []:
        depth += {"link_open": 1, "link_close": -1}.get(token.type, 0)
        part = _words_of(token)
        parts.append(part)
        if not depth:
            outside.append(part)
    text = one_line("".join(parts))
    has_link = len("".join(outside)) < len("".join(parts))
    return text, has_link and not any(char.isalnum() for char in "".join(outside))


def _words_of(token: Token) -> str:
    if token.type == "code_inline":
        return f"{token.markup}{token.content}{token.markup}"
    if token.type in {"softbreak", "hardbreak"}:
        return " "
    if token.type == "html_inline":
        # `release-<branch>` names a blank to fill in, and is no markup.
        return token.content if _PATTERNS["blank to fill"].fullmatch(token.content) else ""
    return _PATTERNS["stray"].sub("", token.content) if token.type == "text" else ""


def _blank(text: str, pattern: str) -> str:
    """The text with what matches emptied, line by line, so that line numbers stay."""
    return _PATTERNS[pattern].sub(lambda found: "\n" * found[0].count("\n"), text)


def _rst_as_markdown(text: str) -> str:
    """RST as far as its sentences go: titles, directives and literal blocks, line by line."""
    out: list[str] = []
    indent = None
    for line in _notes_as_prose(_PATTERNS["rst number"].sub(r"\g<1>1.", text).split("\n")):
        width = len(line) - len(line.lstrip())
        if indent is not None and line.strip() and width <= indent:
            indent = None
        if indent is not None:
            out.append("")
        elif _PATTERNS["rst underline"].fullmatch(line):
            out.append("---" if out and out[-1].strip() else "")
        elif _PATTERNS["rst directive"].fullmatch(line) or line.rstrip().endswith("::"):
            out.append("" if line.lstrip().startswith("..") else line.rstrip().removesuffix(":"))
            indent = width
        else:
            out.append(line)
    return "\n".join(out)


def _notes_as_prose(lines: Sequence[str]) -> Iterator[str]:
    """Notes and warnings at the column of their directive; indented they would be code, or belong to a list before."""
    note = inner = None
    for line in lines:
        width = len(line) - len(line.lstrip())
        if note is not None and line.strip() and width <= note:
            note = inner = None
        if found := _PATTERNS["rst note"].fullmatch(line):
            note, inner = width, None
            yield " " * width + found["words"]
        elif note is None:
            yield line
        else:
            if inner is None and line.strip():
                inner = width
            yield " " * note + line[min(width, inner or 0) :]
