"""What tests of stores write."""

from invincat.store.base import MEMORY_REF, Draft
from invincat.store.git import GitStore
from tests.memory.factories import ADA, NOW


def learn(store: GitStore, name: str, text: str = "text\n") -> str:
    """Add one memory and move the ref; the new tip."""
    with store.exclusive():
        old = store.tip()
        parent = old or store.write_root()
        [new] = store.write(parent, [Draft(f"create {name}\n", {f"memory/{name}.md": text.encode()})], ADA, NOW)
        assert store.swap(MEMORY_REF, old, new)
    return new
