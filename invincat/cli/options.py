"""Options that several commands share, and how a person names a memory."""

from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import Any, TypeVar

import click

from invincat.app import App
from invincat.cli.grave import Grave, buried
from invincat.cli.near import did_you_mean
from invincat.errors import UserError
from invincat.ledger import Ledger
from invincat.memory.entry import Confidence, Kind, Tier
from invincat.memory.proposal import Proposal
from invincat.memory.scope import Scope
from invincat.memory.view import Record
from invincat.outcome import Outcome

Decorated = TypeVar("Decorated", bound=Callable[..., Any])


class Among(click.ParamType[StrEnum]):
    """One of the values of an enumeration, as JSON and front matter spell them."""

    def __init__(self, values: type[StrEnum]) -> None:
        self.name = "|".join(values)
        self._values = values

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> StrEnum:
        """The member; a usage error that lists all of them."""
        try:
            return self._values(value)
        except ValueError:
            self.fail(f"{value!r} is none of {', '.join(self._values)}", param, ctx)

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:
        """What help shows."""
        return f"[{self.name}]"


json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
scope_option = click.option("--scope", type=Among(Scope), help="The project's store or your own.")
reason_option = click.option("--reason", required=True, metavar="WHY", help="Why; it stands in the log.")

_CLAIM = (
    click.option("--title", metavar="TEXT", help="The claim in one line; by default the first sentence."),
    click.option("--name", metavar="NAME", help="The file's name; by default made from the title."),
    click.option("--section", metavar="SECTION", help="Such as Testing; by default General."),
    click.option("--kind", type=Among(Kind), help="By default convention."),
    click.option("--confidence", type=Among(Confidence), help="By default high."),
    click.option(
        "--applies-to", multiple=True, metavar="GLOB", help="Paths it is about, from the root; may be repeated."
    ),
    click.option("--tag", "tags", multiple=True, metavar="TAG", help="May be repeated."),
    click.option("--tier", type=Among(Tier), help="How readily it is injected."),
    click.option("--score", type=int, metavar="0..100", help="Within the tier's band."),
    click.option("--evidence", multiple=True, metavar="PATH#L1-L2", help="What it rests on; may be repeated."),
    click.option("--valid-from", metavar="TIME", help="Since when it holds; by default now."),
)


def claim_options(command: Decorated) -> Decorated:
    """The options of `remember`, which `supersede --content` takes too."""
    for option in reversed(_CLAIM):
        command = option(command)
    return command


def claim_fields(app: App, given: dict[str, Any]) -> dict[str, Any]:
    """The fields of an operation from the options that were given."""
    fields = {key: value for key, value in given.items() if value is not None and value != ()}
    for key in ("applies_to", "tags"):
        if key in fields:
            fields[key] = list(fields[key])
    if "evidence" in fields:
        fields["evidence"] = [{"at": app.place.repository_path(at)} for at in fields["evidence"]]
    return {key: str(value) if isinstance(value, StrEnum) else value for key, value in fields.items()}


class NotFound(UserError):
    """No memory has the name or id, or begins with it."""


class WasDeleted(NotFound):
    """The memories with the name, or a start of the id, were deleted: `found`, each in its store."""

    def __init__(self, found: list[tuple[Ledger, Grave]]) -> None:
        grave = found[0][1]
        step = None if grave.marker.purged else f'`invincat restore {grave.name} --reason "..."` brings it back'
        what = f"{grave.name} was {grave.fate} on {grave.marker.updated_at:%Y-%m-%d} ({grave.marker.reason})"
        super().__init__(what, next_step=step)
        self.found = found


def find(app: App, name: str, scope: Scope | None) -> tuple[Ledger, Record]:
    """The memory that a person means: by name or id, by an unambiguous start of either, or by its path."""
    app.place.require_known()
    name = name.removeprefix("memory/").removesuffix(".md").rpartition("/")[2]
    ledgers = [ledger for ledger in app.existing() if scope in (None, ledger.scope)]
    found = [(ledger, record) for ledger in ledgers for record in ledger.view().matching(name)]
    exact = [(ledger, record) for ledger, record in found if name in {record.name, record.id}]
    candidates = exact or found
    if not candidates and (gone := buried(ledgers, name)):
        raise WasDeleted(gone)
    if not candidates:
        if app.is_without_store() and scope is not Scope.USER:
            raise NotFound(f"no memory is called {name!r}; {app.no_store_message()}", next_step="run `invincat init`")
        step = did_you_mean(app, name).removeprefix("; ") or "see `invincat list --status all`"
        raise NotFound(f"no memory is called {name!r}", next_step=step)
    if len(candidates) > 1:
        raise ambiguous(name, candidates)
    return candidates[0]


def ambiguous(name: str, candidates: Sequence[tuple[Ledger, Record]]) -> UserError:
    """Several memories could be meant."""
    names = ", ".join(f"{record.name} ({ledger.scope})" for ledger, record in candidates[:6])
    return UserError(f"{name!r} could be {names}", next_step="give more of the name, or --scope")


def propose(
    app: App,
    ledger: Ledger,
    *operations: dict[str, Any],
    dry_run: bool = False,
    seen: Record | None = None,
    buried: Sequence[Record] = (),
) -> Outcome:
    """Submit a person's operations to a ledger; the first one of a store says what `App.beginning` does.

    `seen` is the memory as it was when they were worded: if it has changed since, they are refused (RULES 3.4).
    `buried` are the last words of deleted memories that are to be restored.
    """
    if ledger.scope is Scope.PROJECT and ledger.tip() is None and (note := app.beginning()):
        click.echo(f"note: {note}", err=True)
    known = {seen.id: seen} if seen else {}
    last_words = {record.id: record for record in buried}
    proposal = Proposal(operations, ledger.scope, app.origin("user"), seen=known, buried=last_words)
    return ledger.submit(proposal, app.grounds(), dry_run=dry_run)
