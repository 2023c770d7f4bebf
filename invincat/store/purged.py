"""Which commits purges rewrote, as a store lists them, and whether one came while somebody was reading."""

import re
import threading
from typing import Final

from invincat.errors import StoreError
from invincat.store.base import Store
from invincat.store.files import find_blob
from invincat.store.git import GitStore

PURGED: Final = "purged"
_ID: Final = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


def purged_ids(store: Store, commit: str | None) -> frozenset[str]:
    """The commits that purges rewrote, as the store at a commit lists them."""
    blob = find_blob(store, commit, PURGED) if commit else None
    words = store.read_blob(blob).decode("ascii", "replace").split() if blob else ()
    return frozenset(word for word in words if _ID.fullmatch(word))


class Watch:
    """Looks out for a purge from the time on that it is made. What was read before one must not be kept after it.

    Caches ask while they hold the lock that a purge takes to empty them, and a purge moves the refs before that: so
    what it took out is never written behind its back. Any thread may ask.
    """

    def __init__(self, store: GitStore) -> None:
        self._repository = store.repository
        self._tip = _tip(store)
        self._lock = threading.Lock()
        self._own: GitStore | None = None

    def has_come(self) -> bool:
        """Whether a purge came since; also where that cannot be told."""
        with self._lock:
            # A store of its own: that of the readers is for one thread.
            self._own = self._own or GitStore(self._repository)
            try:
                now = self._own.tip()
                return now != self._tip and self._list(now) != self._list(self._tip)
            except StoreError:
                return True

    def _list(self, commit: str | None) -> str | None:
        return find_blob(self._own, commit, PURGED) if self._own and commit else None


def _tip(store: GitStore) -> str | None:
    try:
        return store.tip()
    except StoreError:
        return None
