"""Which memory commit a person means: ids, refs of ours, times; nothing that git would evaluate."""

from datetime import timedelta

import pytest

from invincat.errors import UserError
from invincat.store.base import MEMORY_REF, PROPOSALS, Draft
from invincat.store.inmemory import InMemoryStore
from tests.memory.factories import ADA, NOW, Bench, create


@pytest.fixture
def bench() -> Bench:
    """A ledger with three commits an hour apart, on the root."""
    made = Bench()
    for number in range(3):
        made.ok(create(f"Fact number {number}.", name=f"fact-{number}"))
        made.clock.ahead(hours=1)
    return made


def commits(bench: Bench) -> list[str]:
    """Ids, the newest first."""
    return [commit.id for commit in bench.store.history(bench.store.tip())]


def test_ids_and_their_starts(bench: Bench) -> None:
    for id in commits(bench):
        assert bench.ledger.resolve(id) == id
        assert bench.ledger.resolve(id[:12]) == id


def test_a_ref_and_how_far_back(bench: Bench) -> None:
    newest, second, third, root = commits(bench)
    for name in ("invincat/memory", "refs/invincat/memory"):
        assert bench.ledger.resolve(name) == newest
        assert bench.ledger.resolve(f"{name}~1") == bench.ledger.resolve(f"{name}^") == second
        assert bench.ledger.resolve(f"{name}~1^") == bench.ledger.resolve(f"{name}~~") == third
        assert bench.ledger.resolve(f"{name}~3") == root
        with pytest.raises(UserError, match="does not reach back"):
            bench.ledger.resolve(f"{name}~4")


def test_a_proposal_by_the_start_of_its_id(bench: Bench) -> None:
    held = bench.do(create("We squash.", name="we-squash"), hold="a person must say")
    assert held.proposal
    tip = bench.store.tip(f"{PROPOSALS}{held.proposal}")
    assert bench.ledger.resolve(held.proposal) == bench.ledger.resolve(held.proposal[:8].lower()) == tip
    assert bench.ledger.resolve(f"{held.proposal}~1") == bench.ledger.tip()
    assert bench.ledger.resolve(tip[:10]) == tip


def test_what_the_store_said_at_a_time(bench: Bench) -> None:
    newest, second, third, _ = commits(bench)
    assert bench.ledger.resolve("2026-11-29T10:00:00Z") == third
    assert bench.ledger.resolve("2026-11-29T11:59:59Z") == second
    assert bench.ledger.resolve("2026-11-29") == bench.ledger.resolve("2030-01-01") == newest


@pytest.mark.parametrize("text", ["2026-11-28", "2026-11-29T09:59:59Z", "2021-05-05", "0001-01-01"])
def test_before_the_store_began_is_one_clear_line(bench: Bench, text: str) -> None:
    with pytest.raises(UserError, match=r"did not exist yet .* begins at 2026-11-29T10:00:00Z"):
        bench.ledger.resolve(text)


@pytest.mark.parametrize(
    "text",
    [
        "HEAD", "@", "main", "--all", "-n1", ":/memory", "invincat/memory:memory", "invincat/memory@{1}", "stash",
        "invincat/memory^{tree}", "invincat/memory^2", "refs/heads/main", "../memory", "", "~1", "2026-13-45",
        "ffffffff", "9999-12-31T25:00:00Z", "0" * 40, "0" * 64,
    ],
)  # fmt: skip
def test_nothing_else_is_evaluated(bench: Bench, text: str) -> None:
    with pytest.raises(UserError, match="is no memory commit"):
        bench.ledger.resolve(text)


def test_a_commit_that_no_ref_leads_to_is_unknown(bench: Bench) -> None:
    """Objects of the person's own branches are none of our business."""
    with bench.store.exclusive():
        [stray] = bench.store.write(bench.store.tip(), [Draft("stray\n", {"x": b""})], ADA, NOW + timedelta(days=1))
    with pytest.raises(UserError, match="is no memory commit"):
        bench.ledger.resolve(stray)


def test_an_ambiguous_start_says_so(bench: Bench) -> None:
    held = [bench.do(create(f"Held {n}."), hold="why").proposal or "" for n in range(40)]
    first = {id[0] for id in held}
    with pytest.raises(UserError, match="could be several"):
        bench.ledger.resolve(min(start for start in first if sum(id[0] == start for id in held) > 1))


def test_without_a_store(bench: Bench) -> None:
    empty = Bench(InMemoryStore(ADA))
    with pytest.raises(UserError, match="no memory store yet"):
        empty.ledger.resolve("invincat/memory")
    assert bench.store.tip(MEMORY_REF)
