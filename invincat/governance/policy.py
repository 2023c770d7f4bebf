"""Which kinds and actors need a person's yes (RULES 4.8, HOOKS_AND_REVIEW "Review")."""

from collections.abc import Iterable

import msgspec

from invincat.memory.entry import Kind, is_actor
from invincat.memory.refusal import Reason
from invincat.memory.step import Step

RULE = "RULES 4 policy"
PERSON = "user"


class Requirement(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What needs a person's yes: a kind, an actor, or that kind from that actor.

    A kind alone does not ask the person again who gave the command; ValueError without any of the two.
    """

    kind: Kind | None = None
    actor: str | None = None

    def __post_init__(self) -> None:
        if self.kind is None and self.actor is None:
            raise ValueError("names neither a kind nor an actor")
        if self.actor is not None and not is_actor(self.actor):
            raise ValueError(f"{self.actor!r} is no actor")

    def meets(self, kinds: Iterable[Kind], actor: str) -> bool:
        """Whether a change to memories of these kinds by this actor is meant."""
        is_asked = actor != PERSON if self.actor is None else actor == self.actor
        return is_asked and (self.kind is None or self.kind in kinds)

    def __str__(self) -> str:
        return " ".join(part for part in (self.kind, self.actor and f"from {self.actor}") if part)


class Policy(msgspec.Struct, frozen=True):
    """The requirements of a team and of a person together; none by default."""

    require: tuple[Requirement, ...] = ()

    def worries(self, steps: Iterable[Step], actor: str) -> list[Reason]:
        """Why a person must decide about these steps."""
        reasons = {}
        for number, step in enumerate(steps):
            records = (step.before, step.subject, *step.written)
            kinds = {record.memory.kind for record in records if record is not None}
            for requirement in self.require if step.op != "noop" else ():
                if requirement.meets(kinds, actor):
                    message = f"the settings want a person's yes (review.require: {requirement})"
                    reasons[number] = Reason(rule=RULE, message=message, operation=number)
        return list(reasons.values())


OPEN = Policy()
