"""Statements that are told together: steps of a procedure, an order, a sentence and what leans on it."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from invincat.extraction import lead_in, wording
from invincat.extraction.markup import Passage, Statement
from invincat.extraction.noise import kind_of_noise
from invincat.extraction.sentences import split_sentences

MAX_RULE = 600
# A rule of fewer words (a code span is one) says nothing at all.
LEAST_TOLD = 2


def unfolded(found: Iterable[Statement]) -> Iterator[Statement]:
    """The steps of a procedure as one statement; of any other list, its items."""
    for statement in found:
        if not statement.steps:
            yield statement
        elif (whole := _procedure(statement) or _ordering(statement)) is not None:
            yield whole
            # What is said below a step, beside it.
            yield from (one for one in statement.inside if not one.is_item)
        else:
            yield from unfolded(statement.inside)


def _procedure(statement: Statement) -> Statement | None:
    context = [lead.text for lead in statement.leads[-1:]] or [
        lead_in.clean_heading(heading.passage.text) for heading in statement.headings[-1:]
    ]
    if (
        not context
        or not (lead_in.is_procedure(context[0]) or lead_in.is_task(context[0]))
        or lead_in.is_negative(context[0])
    ):
        return None
    steps = [_step(step) for step in statement.steps]
    if not statement.is_numbered and not (lead_in.is_task(context[0]) and all(map(wording.is_step, steps))):
        return None
    if any(step.is_parent or not step.passage.text for step in statement.steps):
        return None
    told = [kind_of_noise(step) is None for step in steps]
    text = _numbered(steps)
    if len(text) + len(context[0]) > MAX_RULE or sum(told) * 2 <= len(told):
        return None
    return replace(statement, passage=replace(statement.passage, text=text))


def _ordering(statement: Statement) -> Statement | None:
    """A list whose items say nothing alone as one statement: their order is told, or that all of them must hold."""
    items = [step.passage.text for step in statement.steps]
    is_order = statement.is_numbered and all(map(wording.is_fragment, items))
    if not statement.leads or not (is_order or lead_in.is_conjunction(statement.leads[-1].text)):
        return None
    if any(step.is_parent or step.commands or not step.passage.text for step in statement.steps):
        return None
    text = _numbered(items)
    if len(text) + len(statement.leads[-1].text) > MAX_RULE:
        return None
    return replace(statement, passage=replace(statement.passage, text=text), steps=())


def _numbered(items: Iterable[str]) -> str:
    return "; ".join(f"{number}. {item.rstrip('.;:。；：')}" for number, item in enumerate(items, 1))


def _step(statement: Statement) -> str:
    """A step with its commands; a last sentence that only announces what is shown below it is left away."""
    text = with_commands(statement)
    *before, last = split_sentences(text) or [""]
    return " ".join(before) if before and last.endswith((":", "：")) and wording.announces(last) else text


def with_commands(statement: Statement) -> str:
    """Its words without signs and numbers before them, with the commands that they introduce."""
    text = wording.clean_rule(lead_in.without_example(statement.passage.text))
    if not statement.commands:
        return text
    return f"{text.rstrip(':：.; ')}: {statement.commands.text}"


def grouped(found: Iterable[Statement]) -> list[Statement]:
    """Sentences that lean on the one before are joined to it, and the words of a mere enumeration to one rule."""
    groups: list[Statement] = []
    for statement in found:
        last = groups[-1] if groups else None
        if last is None or len(last.passage.text) + len(statement.passage.text) >= MAX_RULE:
            groups.append(statement)
        elif _leans(statement, last):
            commands = statement.commands or last.commands
            between = "" if last.passage.text.endswith(("。", "！", "？")) else " "
            groups[-1] = replace(last, passage=_joined(last.passage, statement.passage, between), commands=commands)
        elif _enumerates(statement, last):
            groups[-1] = replace(last, passage=_joined(last.passage, statement.passage, "; "))
        else:
            groups.append(statement)
    return groups


def _leans(statement: Statement, last: Statement) -> bool:
    if statement.is_item or last.is_item or statement.paragraph != last.paragraph:
        return False
    return wording.is_dependent(statement.passage.text) or wording.weight(last.passage.text) < LEAST_TOLD


def _enumerates(statement: Statement, last: Statement) -> bool:
    """Whether both are single words after one lead-in: `Regions have: a shape; a colour`."""
    if not statement.leads or statement.leads != last.leads or lead_in.is_negative(statement.leads[-1].text):
        return False
    return all(
        one.is_item and not one.is_parent and not one.commands and all(map(_is_word, one.passage.text.split("; ")))
        for one in (statement, last)
    )


def _is_word(text: str) -> bool:
    return "`" not in text and not wording.has_cjk(text) and wording.weight(text) <= LEAST_TOLD


def _joined(first: Passage, second: Passage, between: str) -> Passage:
    # Items have markers between them, and Chinese sentences a space or none: only what surely is one quote becomes one.
    is_whole = first.is_whole and second.is_whole and between == " "
    return replace(
        first,
        text=f"{first.text}{between}{second.text}",
        literal=f"{first.literal} {second.literal}" if is_whole else first.literal or second.literal,
        last_line=second.last_line,
        is_link=False,
        is_whole=is_whole,
    )
