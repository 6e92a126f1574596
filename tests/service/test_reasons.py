"""Why a span got its number: terms that add up to it, worked out from what the run read."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from tests.build import run
from tests.service.scenes import PROJECT, ran
from tests.store.shelf import put
from trajcredit import registry
from trajcredit.attributors import Attribution, Grpo
from trajcredit.errors import InputError, NotFoundError
from trajcredit.model import SpanTokens
from trajcredit.service import crediting, reasons
from trajcredit.service.crediting import PathStep, Reason, Why, why
from trajcredit.service.rewarding import late
from trajcredit.service.running import Wanted
from trajcredit.store import Store, open_store, trajectories

FAILED = run("ucrcra", 0.0, name="bad", edges=[(4, 5)])
"""Its first call leads nowhere."""

BUILT_IN = sorted(
    name
    for name, kind in registry.attributors.items().items()
    if kind.__module__.startswith("trajcredit.attributors.") and "info" not in kind().needs
)
"""All but what reads log-probs of the known answer: no log that is stored has them."""


@pytest.fixture
def filled(store: Store) -> Store:
    put(store, FAILED, run("ucra", 1.0, name="good", edges=[(2, 3)]), run("ua", name="open"))
    return store


def test_terms_are_the_outcome_and_what_it_is_held_against(filled: Store) -> None:
    """Spans of siblings are left out: they are spans of other transcripts."""
    ran(filled, "grpo")
    found = why(filled, PROJECT, "ext:bad", "grpo", 1)
    assert found == Why(
        span=1,
        credit=-0.5,
        advantage=pytest.approx(-0.7071, abs=1e-4),  # type: ignore[arg-type]
        terms=(Reason("outcome", 0.0, (5,)), Reason("group mean", -0.5, (5,))),
        path=(),
    )
    ran(filled, "rloo")
    assert why(filled, PROJECT, "ext:bad", "rloo", 1).terms == (
        Reason("outcome", 0.0, (5,)),
        Reason("mean of siblings", -1.0, ()),
    )


def test_the_path_leads_from_the_span_to_a_sink_edge_by_edge(filled: Store) -> None:
    ran(filled, "dag", gamma=0.5)
    found = why(filled, PROJECT, "ext:bad", "dag", 3)
    assert (found.credit, sum(term.value for term in found.terms)) == (-0.25, -0.25)
    assert [term.name for term in found.terms] == [
        "1 hop from the sink s5, x 0.5: outcome",
        "1 hop from the sink s5, x 0.5: group mean",
    ]
    assert found.path == (
        PathStep(3, 4, "call", "the result of this call"),
        PathStep(4, 5, "explicit", "the log says so"),
    )
    assert why(filled, PROJECT, "ext:bad", "dag", 5).path == (), "a sink itself"
    off = why(filled, PROJECT, "ext:bad", "dag", 1)
    assert (off.credit, off.path) == (0.0, ())
    assert off.terms[0].name == "off path, x 0: outcome"


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        *((name, {}) for name in BUILT_IN),
        ("rtg", {"gamma": 0.9}),
        ("gae", {"lam": 0.5, "gamma": 0.9, "unit": "turn"}),
        ("grpo", {"scale": "none", "singleton": "as_trainer"}),
        ("dag", {"gamma": 0.9, "off_path": 0.3, "base": "gae"}),
        ("dag", {"base": "moving_average", "gamma": 0.9}),
        ("dag", {"soft": True, "min_weight": 0.0}),
    ],
)
def test_terms_add_up_for_every_attributor(sqlite_url: str, name: str, parameters: dict[str, Any]) -> None:
    draw = random.Random(7)
    items = []
    for n in range(12):
        letters = "u" + "".join(draw.choice("atcr") for _ in range(draw.randrange(1, 12)))
        items.append(
            run(
                letters,
                draw.choice([None, 0.0, 0.5, 1.0]),
                name=f"t{n}",
                group=f"g{n % 4}",
                values=[draw.random() for _ in letters],
                edges=[(i, i + 2, 0.5) for i in range(0, len(letters) - 2, 3)],
            )
        )
    items = [replace(item, answer="an answer") for item in items]  # which `clues` does not do without
    items = [
        replace(item, spans=[replace(span, tokens=SpanTokens(n=1 + n % 3)) for n, span in enumerate(item.spans)])
        for item in items
    ]  # and `opo` not without counts
    with open_store(sqlite_url) as store:
        put(store, *items)
        ran(store, name, **parameters)
        scored = 0
        for item in items:
            ref = f"ext:{item.id}"
            said = crediting.credits(store, PROJECT, ref, name)
            for span in range(len(item.spans)):
                found = why(store, PROJECT, ref, name, span)
                assert (found.credit, found.advantage) == (said.credit[span], said.advantage[span])
                assert all(0 <= i < len(item.spans) for term in found.terms for i in term.spans)
                if found.credit is None:
                    assert found.terms == ()
                else:
                    assert sum(term.value for term in found.terms) == pytest.approx(found.credit, abs=1e-6)
                    scored += 1
    assert scored > 20


def test_where_there_is_no_number_there_are_no_terms(filled: Store) -> None:
    ran(filled, "dag")
    put(filled, run("ua", 1.0, name="late"))
    for ref, span in (("bad", 0), ("bad", 2), ("open", 1), ("late", 1)):
        assert why(filled, PROJECT, f"ext:{ref}", "dag", span) == Why(span, None, None, (), ())


def test_rewards_that_came_later_are_not_in_the_sum(filled: Store) -> None:
    ran(filled, "grpo")
    before = why(filled, PROJECT, "ext:bad", "grpo", 1)
    late(filled, PROJECT, b'{"trajectory": "ext:bad", "value": 1}\n{"trajectory": "ext:open", "value": 1}')
    assert why(filled, PROJECT, "ext:bad", "grpo", 1) == before
    put(filled, run("ua", 1.0, name="late"))
    assert why(filled, PROJECT, "ext:bad", "grpo", 1) == before, "nor is a rollout that came later"


def test_no_wrong_sum_is_shown_where_a_sibling_is_gone(filled: Store) -> None:
    ran(filled, "grpo")
    with filled.write() as conn:
        trajectories.delete(conn, PROJECT, "ext:good")
    with pytest.raises(InputError) as refused:
        why(filled, PROJECT, "ext:bad", "grpo", 1)
    assert str(refused.value) == (
        "run 'grpo' gave span 1 -0.50; worked out again it gets 0.00: a trajectory that it read was replaced or "
        "deleted since. Run it again to have its numbers explained"
    )


def test_a_sibling_that_made_no_difference_may_be_gone(filled: Store) -> None:
    ran(filled, "grpo")
    before = why(filled, PROJECT, "ext:bad", "grpo", 1)
    with filled.write() as conn:
        trajectories.delete(conn, PROJECT, "ext:open")
    assert why(filled, PROJECT, "ext:bad", "grpo", 1) == before


def test_another_version_of_the_program_is_named(filled: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    ran(filled, "grpo")
    nothing = np.nan

    def other(self, batch):
        credit = np.where(batch.action_mask, -0.25, nothing)
        return Attribution(credit, credit)

    def silent(self, batch):
        return Attribution(np.full(batch.n_spans, nothing), np.full(batch.n_spans, nothing))

    monkeypatch.setattr(Grpo, "__call__", other)
    with pytest.raises(InputError, match=r"gave span 1 -0\.50.* it gets -0\.25: what it read is not what is stored"):
        why(filled, PROJECT, "ext:bad", "grpo", 1)
    monkeypatch.setattr(reasons, "code_version", lambda: "9.9")
    with pytest.raises(InputError, match=r"the run was made by version \S+, this is 9\.9\. Run it again"):
        why(filled, PROJECT, "ext:bad", "grpo", 1)
    monkeypatch.setattr(Grpo, "__call__", silent)
    with pytest.raises(InputError, match="worked out again it gets no number"):
        why(filled, PROJECT, "ext:bad", "grpo", 1)


def test_groups_are_those_of_the_run(store: Store) -> None:
    """Grouped by trial; the one without a trial is a group of its own, which alone could not be grouped so."""
    items = [run("ua", float(n), name=f"t{n}", group=f"g{n}") for n in range(3)]
    put(store, *(replace(item, trial="x" if n < 2 else None) for n, item in enumerate(items)))
    ran(store, "grpo", Wanted(group_by="trial"))
    assert why(store, PROJECT, "ext:t0", "grpo", 1).terms == (
        Reason("outcome", 0.0, (1,)),
        Reason("group mean", -0.5, (1,)),
    )
    assert [term.value for term in why(store, PROJECT, "ext:t2", "grpo", 1).terms] == [2.0, -2.0]


def test_the_reward_source_is_that_of_the_run(store: Store) -> None:
    """Alone the first trajectory would read its judge: it has no other."""
    put(store, run("ua", name="x"), run("ua", 1.0, name="y"))
    late(store, PROJECT, b'{"trajectory": "ext:x", "value": 0.5, "source": "judge"}')
    ran(store, "grpo", Wanted(reward="judge"))
    assert why(store, PROJECT, "ext:x", "grpo", 1).terms[0] == Reason("outcome", 0.5, (1,))
    assert why(store, PROJECT, "ext:y", "grpo", 1).credit is None


def test_averages_over_the_whole_run_are_worked_out_over_the_whole_run(store: Store) -> None:
    put(store, *(run("ua", float(n % 2), name=f"t{n}", group=f"g{n}") for n in range(5)))
    ran(store, "moving_average", beta=1.0)
    found = why(store, PROJECT, "ext:t4", "moving_average", 1)
    assert found.credit == pytest.approx(-0.5)
    assert found.terms == (Reason("outcome", 0.0, (1,)), Reason("moving average of earlier outcomes", -0.5, ()))


def test_what_is_not_there_is_named(filled: Store) -> None:
    ran(filled, "grpo")
    with pytest.raises(InputError, match="span 9: trajectory 'ext:bad' has spans 0 to 5"):
        why(filled, PROJECT, "ext:bad", "grpo", 9)
    with pytest.raises(NotFoundError, match="no trajectory 'ext:nobody'"):
        why(filled, PROJECT, "ext:nobody", "grpo", 0)
    with pytest.raises(NotFoundError, match="no run 'dag'"):
        why(filled, PROJECT, "ext:bad", "dag", 0)
