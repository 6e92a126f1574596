"""What stands beside trajectories in lists and forms; and that one process at a time works on runs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from msgspec.structs import replace

from tests.build import run
from tests.store.shelf import PROJECT, put
from tests.store.test_rewards import give
from trajcredit.model import Note, Origin, Reward
from trajcredit.store import Store, pages, remarks, suggestions
from trajcredit.store.filters import Filters
from trajcredit.store.sole import sole_runner

ROOT = Path(__file__).parent.parent.parent
HOLD = """
import sys
from trajcredit.store import open_store
from trajcredit.store.sole import sole_runner
with open_store(sys.argv[1]) as store, sole_runner(store) as held:
    print(held, flush=True)
    sys.stdin.read()
"""


def test_remarks_count_notes_and_name_the_format(store: Store) -> None:
    noted = replace(run("ua", name="noted"), report=[Note("a", "b"), Note("c", "d")], source=Origin("tau_bench", "f"))
    ids = [one.id or "" for one in put(store, noted, run("ua", name="plain"))]
    with store.read() as conn:
        assert remarks.remarks(conn, ids) == {ids[0]: remarks.Remark(2, "tau_bench"), ids[1]: remarks.Remark(0, "")}


def test_kinds_of_some_spans(store: Store) -> None:
    [one, other] = [one.id or "" for one in put(store, run("ucra", name="one"), run("ut", name="other"))]
    places = [(one, 1), (other, 1), (one, 1)]
    with store.read() as conn:
        assert remarks.kinds_at(conn, PROJECT, places) == {(one, 1): "tool_call", (other, 1): "reasoning"}
        assert remarks.kinds_at(conn, PROJECT, []) == {}


def test_rewards_say_when_they_came_in(store: Store) -> None:
    put(store, run("ua", 1.0, name="t"))
    give(store, ("ext:t", Reward(0.5, "human", name="late")))
    with store.read() as conn:
        first, late = remarks.rewards_given(conn, PROJECT, "ext:t")
    assert (first.value, first.source, late.value, late.name) == (1.0, "verifier", 0.5, "late")
    assert first.received < late.received


def test_tools_are_suggested_by_their_first_letters(store: Store) -> None:
    put(store, *(run("uca", name=f"t{n}") for n in range(5)))
    with store.read() as conn:
        assert suggestions.tools(conn, PROJECT, "", 10) == [suggestions.Counted("look", 5)]
        assert suggestions.tools(conn, PROJECT, "l%", 10) == []
        assert suggestions.tools(conn, "other", "", 10) == []


def test_lists_filter_by_the_name_of_a_group_and_by_a_part_of_the_id(store: Store) -> None:
    put(store, *(run("ua", name=f"booking_{n}%", group=f"g{n}") for n in range(3)))
    with store.read() as conn:
        for filters, names in (
            (Filters(group_name="g1"), ["booking_1%"]),
            (Filters(id_part="ing_2%"), ["booking_2%"]),
            (Filters(id_part="_"), ["booking_0%", "booking_1%", "booking_2%"]),
            (Filters(id_part="%_"), []),
        ):
            found = pages.page(conn, PROJECT, filters, sort="created").trajectories
            assert [one.external_id for one in found] == names


def test_one_process_works_on_the_runs_until_it_ends_however_it_ends(store: Store, url: str) -> None:
    command = [sys.executable, "-c", HOLD, url]
    other = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert other.stdout is not None
    assert other.stdout.readline() == "True\n"
    with sole_runner(store) as held:
        assert not held
    other.kill()
    other.communicate()
    with sole_runner(store) as held, sole_runner(store) as again:
        assert (held, again) == (True, False)
