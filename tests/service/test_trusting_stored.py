"""Stored runs that hear a judge: what it is worth is among their notes, and calibrated credit is explained."""

from __future__ import annotations

import pytest

from tests.service.scenes import PROJECT, ran
from tests.service.test_advising_judge import faulty
from tests.store.shelf import put
from trajcredit.service.crediting import why
from trajcredit.store import Store


def _fill(store: Store, telling: bool) -> None:
    """Twelve tasks of two rollouts. `telling`: a call failed where the run did, and in every third that passed; else
    in both rollouts of every second task."""
    put(
        store,
        *(
            faulty(
                outcome,
                f"r{g}-{outcome:g}",
                f"g{g}",
                failing=outcome == 0 or g % 3 == 0 if telling else g % 2 == 0,
            )
            for g in range(12)
            for outcome in (0.0, 1.0)
        ),
    )


def test_the_run_says_what_its_judge_is_worth(store: Store) -> None:
    _fill(store, telling=False)
    [note] = [note for note in ran(store, "judge").notes if note.code == "judge-check"]
    assert note.message.startswith("the judge's last scores as chances to pass: as they are worse than the base rate")
    assert note.message.endswith("; 12 groups")


def test_calibrated_credit_is_explained_by_maps_of_the_whole_run(store: Store) -> None:
    _fill(store, telling=True)
    run = ran(store, "judge", mix=1.0, smear=0.0, calibrate=True)
    assert "calibrated, out of fold, on 24 outcomes of 12 groups" in " ".join(note.message for note in run.notes)
    found = why(store, PROJECT, "ext:r1-0", "judge", 1)
    assert found.credit is not None
    assert found.credit < 0
    assert sum(term.value for term in found.terms) == pytest.approx(found.credit, abs=1e-6)
    assert found.terms[0].name.startswith("failed-call: ")
