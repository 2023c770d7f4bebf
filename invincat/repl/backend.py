"""Everything that the REPL may reach: one conversation, its memory, and what waits for a person."""

from collections.abc import AsyncGenerator, AsyncIterator
from typing import Protocol

from invincat.agent.events import Event
from invincat.memory.view import Record
from invincat.recall.hit import Results
from invincat.review import Waiting


class Backend(Protocol):
    """What `desk` hands to the REPL. Lines that it returns are shown as they are, but for control sequences."""

    @property
    def model(self) -> str | None:
        """The model's name; None when none is configured."""

    @property
    def branch(self) -> str | None:
        """The branch that is checked out."""

    @property
    def session_id(self) -> str:
        """The id of the conversation."""

    async def open(self) -> None:
        """Get ready; comes first, once. ConfigurationError when a conversation cannot be had here."""

    def turn(self, text: str) -> AsyncGenerator[Event, None]:
        """Answer a message; cancelling the task that iterates interrupts it."""

    def background(self) -> AsyncIterator[Event]:
        """What the memory worker has to say (Learned, Notice), forever."""

    def remembering(self) -> bool:
        """Whether extraction is under way."""

    async def counts(self) -> tuple[int, int]:
        """How many memories are active, and how many proposals are held."""

    async def remember(self, text: str, *, user: bool) -> str:
        """Write down one memory; says in one line what came of it."""

    async def recall(self, query: str) -> Results:
        """Search the memories."""

    async def memories(self) -> list[Record]:
        """The active memories."""

    async def show(self, name: str) -> str:
        """The text of a memory's file."""

    async def waiting(self) -> list[Waiting]:
        """The held proposals, the oldest first."""

    async def accept(self, id: str) -> str:
        """Accept a held proposal; says in one line what came of it."""

    async def reject(self, id: str, reason: str) -> str:
        """Reject a held proposal; says in one line what came of it."""

    def files(self) -> list[str]:
        """The files of the working tree, from its root; may take a moment the first time."""

    async def set_model(self, name: str) -> str:
        """Talk to another model from the next message on, in the same conversation; one line on what came of it.

        UserError where no endpoint is known that could have it.
        """

    async def clear(self) -> str:
        """Begin a new conversation; its id."""

    async def close(self) -> int:
        """Finish learning, in bounded time, and let go of the conversation; what is left for the next start."""
