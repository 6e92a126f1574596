"""Attributors are foreign code: what they may give, what is refused, and in which words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import msgspec
import numpy as np
import pytest

import trajcredit as tc
from tests.build import batch_of, run
from trajcredit.attributors import Dag, Rtg
from trajcredit.attributors.base import Scope
from trajcredit.registry import attributors
from trajcredit.service.attributing import explained, scored
from trajcredit.service.blame import blame

NAN = np.nan
GOOD = np.array([NAN, 0.5, NAN, 0.25])
NOTE = tc.Note("odd", "an odd group", group="g")


def say(value: Any) -> Callable[..., Any]:
    """A function that gives this back, or raises it, whatever it is asked."""

    def answer(*_: Any) -> Any:
        if isinstance(value, BaseException):
            raise value
        return value

    return answer


WELL = say(tc.Attribution(GOOD, GOOD))
WELL_EXPLAINED = say((tc.Term("all of it", 0.5, (1,)),))


@dataclass(frozen=True)
class Mine:
    """An attributor that answers as it was told to."""

    call: Callable[[tc.Batch], Any] = WELL
    """What its call does."""
    terms: Callable[[tc.Batch, int], Any] = WELL_EXPLAINED
    """What its explanation does."""
    needs: ClassVar[tuple[str, ...]] = ()
    scope: ClassVar[Scope] = "group"

    def __call__(self, batch: tc.Batch) -> tc.Attribution:
        found: tc.Attribution = self.call(batch)
        return found

    def explain(self, batch: tc.Batch, span: int) -> tuple[tc.Term, ...]:
        found: tuple[tc.Term, ...] = self.terms(batch, span)
        return found


@dataclass(frozen=True)
class Needy(Mine):
    """One that needs what judges and critics fill."""

    needs: ClassVar[tuple[str, ...]] = ("scores", "values")


def batch() -> tc.Batch:
    """Four spans, the second and the last an action."""
    return batch_of(run("ucra", 1.0, name="t"))


def test_what_is_right_is_taken_as_it_is() -> None:
    credit = tc.attribute(batch(), Mine(say(tc.Attribution(GOOD, GOOD * 2, (NOTE,)))))
    assert credit.attributor == "Mine"
    np.testing.assert_array_equal(credit.credit, GOOD)
    np.testing.assert_array_equal(credit.advantage, GOOD * 2)
    assert credit.notes == (NOTE,)
    assert explained(credit, Mine(), 1) == (tc.Term("all of it", 0.5, (1,)),)


def given(credit: Any, advantage: Any = GOOD, notes: Any = ()) -> tc.Attribution:
    return tc.Attribution(credit, advantage, notes)


@pytest.mark.parametrize(
    ("answer", "complaint"),
    [
        pytest.param(ZeroDivisionError("oh"), "failed: ZeroDivisionError: oh", id="an exception"),
        pytest.param(SystemExit(0), "failed: SystemExit: 0", id="a way out of the program"),
        pytest.param(None, "gave NoneType; expected an Attribution", id="nothing"),
        pytest.param((GOOD, GOOD), "gave tuple; expected an Attribution", id="a tuple"),
        pytest.param(GOOD, "gave float64[4]; expected an Attribution", id="a bare array"),
        pytest.param(given(np.zeros(3)), "gave credit as float64[3]; expected float64[4]", id="a wrong length"),
        pytest.param(given(GOOD, np.zeros((4, 1))), "gave advantage as float64[4, 1]; expected", id="a wrong shape"),
        pytest.param(given([0.0] * 4), "gave credit as list; expected float64[4]", id="a list of numbers"),
        pytest.param(given(GOOD.astype(np.float32)), "gave credit as float32[4]", id="a wrong type"),
        pytest.param(given(np.ma.masked_invalid(GOOD)), "gave credit as MaskedArray", id="an array that hides some"),
        pytest.param(
            given(np.full(4, 0.5)), "gave credit 0.5 to span 0 of 't', an observation; expected NaN", id="observations"
        ),
        pytest.param(
            given(GOOD, np.array([NAN, 1, 0.0, 1])), "gave advantage 0.0 to span 2 of 't'", id="zero is a number"
        ),
        pytest.param(given(np.array([NAN, np.inf, NAN, 0])), "gave credit inf to span 1 of 't'; exp", id="infinity"),
        pytest.param(given(GOOD, notes=None), "gave notes as NoneType; expected a tuple of Notes", id="no notes"),
        pytest.param(given(GOOD, notes="odd"), "gave notes as str; expected a tuple of Notes", id="text for notes"),
        pytest.param(given(GOOD, notes=("odd",)), "gave 'odd' as a note; expected a Note", id="a note that is text"),
        pytest.param(
            given(GOOD, notes=(tc.Note(1, None),)),  # type: ignore[arg-type]
            "gave Note(code=1, message=None",
            id="a note without text",
        ),
    ],
)
def test_a_call_that_misbehaves_is_an_error_that_names_it(answer: Any, complaint: str) -> None:
    with pytest.raises(tc.InputError) as caught:
        tc.attribute(batch(), Mine(say(answer)))
    assert str(caught.value).startswith(f"attributor 'Mine' {complaint}")


@pytest.mark.parametrize(
    ("answer", "complaint"),
    [
        pytest.param(KeyError("x"), "failed to explain span 1 of 't': KeyError: 'x'", id="an exception"),
        pytest.param(None, "explained span 1 of 't' with NoneType; expected a tuple of Terms", id="nothing"),
        pytest.param(tc.Term("all", 0.5), "explained span 1 of 't' with Term; expected a tuple", id="a bare term"),
        pytest.param((0.5,), "explained span 1 of 't' with 0.5; expected a Term", id="a number for a term"),
        pytest.param((tc.Term(None, 0.5),), "with a term named None; expected text", id="no name"),  # type: ignore[arg-type]
        pytest.param((tc.Term("x", NAN),), "with a term of nan; expected a finite number", id="a term of NaN"),
        pytest.param((tc.Term("x", "1"),), "with a term of '1'; expected a finite", id="text for a value"),  # type: ignore[arg-type]
        pytest.param((tc.Term("x", 0.5, 1),), "with a term from int; expected a tuple", id="a span for spans"),  # type: ignore[arg-type]
        pytest.param((tc.Term("x", 0.5, (4,)),), "from span 4; expected positions in the batch, 0 to 3", id="past it"),
        pytest.param((tc.Term("x", 0.5, (-1,)),), "from span -1; expected", id="a span before the batch"),
        pytest.param((tc.Term("x", 0.5, (1.0,)),), "from span 1.0; expected", id="half a span"),  # type: ignore[arg-type]
        pytest.param((), "with terms that add up to 0; its credit is 0.5", id="no terms where there is credit"),
        pytest.param((tc.Term("x", 0.4), tc.Term("y", 0.2)), "add up to 0.6; its credit is 0.5", id="a wrong sum"),
        pytest.param((tc.Term("x", 0.5000011),), "add up to 0.5000011; its credit is 0.5", id="just too far"),
    ],
)
def test_an_explanation_that_misbehaves_is_an_error_that_names_it(answer: Any, complaint: str) -> None:
    mine = Mine(terms=say(answer))
    with pytest.raises(tc.InputError) as caught:
        blame(tc.attribute(batch(), mine), mine, 1)
    assert str(caught.value).startswith("attributor 'Mine' ")
    assert complaint in str(caught.value)


def test_rounding_is_forgiven_also_where_the_terms_are_huge() -> None:
    huge = Mine(say(given(np.array([NAN, 3e12, NAN, 0.0]))), say((tc.Term("x", 1e12), tc.Term("y", 2e12 + 0.5))))
    assert len(explained(tc.attribute(batch(), huge), huge, 1)) == 2
    near = Mine(terms=say((tc.Term("x", 0.5000009),)))
    assert len(explained(tc.attribute(batch(), near), near, 1)) == 1


def test_what_has_no_credit_has_no_terms() -> None:
    mine = Mine()
    with pytest.raises(tc.InputError, match="explained span 0 of 't', which it gave no credit; expected no terms"):
        explained(tc.attribute(batch(), mine), mine, 0)


def test_terms_come_back_in_plain_numbers() -> None:
    mine = Mine(terms=say([tc.Term("x", np.float64(0.5), (np.int64(1),))]))  # type: ignore[arg-type]
    [term] = explained(tc.attribute(batch(), mine), mine, 1)
    assert (type(term.value), type(term.spans[0])) == (float, int)


def test_what_it_raises_on_purpose_passes_as_it_is() -> None:
    with pytest.raises(tc.NotFoundError, match=r"^no such model$"):
        tc.attribute(batch(), Mine(say(tc.NotFoundError("no such model"))))


@pytest.mark.parametrize(
    ("attributor", "complaint"),
    [
        pytest.param(Dag, "it must be an instance of a dataclass, not <class", id="the class"),
        pytest.param(lambda batch: given(GOOD), "it must be an instance of a dataclass, not <class", id="a function"),
        pytest.param(tc.Term("x", 1.0), "it lacks `__call__`: expected a method", id="another dataclass"),
    ],
)
def test_what_is_no_attributor_is_refused(attributor: Any, complaint: str) -> None:
    with pytest.raises(tc.InputError) as caught:
        tc.attribute(batch(), attributor)
    assert complaint in str(caught.value)


def test_no_attributor_can_change_what_the_next_one_reads() -> None:
    def spoil(batch: tc.Batch) -> None:
        batch.rewards[:] = 0.0

    shared = batch()
    with pytest.raises(tc.InputError, match="'Mine' failed: ValueError: assignment destination is read-only"):
        tc.attribute(shared, Mine(spoil))
    assert tc.attribute(shared, Rtg()).credit[1] == 1.0


def test_a_needed_column_that_nobody_filled_is_refused_and_says_who_fills_it() -> None:
    with pytest.raises(tc.InputError) as caught:
        tc.attribute(batch(), Needy())
    assert str(caught.value) == (
        "attributor 'Needy' needs the column `scores`, and no action span has a value: name a judge that "
        "fills it (`judge=`), or put your own in with dataclasses.replace(batch, scores=...)"
    )


def test_one_finite_value_on_an_action_is_enough_and_one_on_an_observation_is_not() -> None:
    here, elsewhere = np.array([NAN, 0.1, NAN, NAN]), np.array([0.1, NAN, 0.1, NAN])
    assert tc.attribute(replace(batch(), scores=here, values=here), Needy()).attributor == "Needy"
    for lacking in (replace(batch(), scores=elsewhere, values=here), replace(batch(), scores=here, values=elsewhere)):
        with pytest.raises(tc.InputError, match="no action span has a value"):
            tc.attribute(lacking, Needy())
    assert tc.attribute(batch_of(run("u", name="t")), Needy(say(given(np.array([NAN]), np.array([NAN]))))).notes == ()


def test_what_it_lacks_explains_a_failure_and_its_own_refusal_is_heard_first() -> None:
    with pytest.raises(tc.InputError, match="needs the column `scores`"):
        tc.attribute(batch(), Needy(say(IndexError("no best score"))))
    with pytest.raises(tc.InputError, match=r"^score first$"):
        tc.attribute(batch(), Needy(say(tc.InputError("score first"))))
    with pytest.raises(tc.InputError, match=r"^gae needs a critic's values .* ask for values=zero"):
        tc.attribute(batch(), "gae")


@pytest.mark.parametrize(
    ("column", "complaint"),
    [
        pytest.param("valeus", "needs the column `valeus`, which no batch has", id="misspelt"),
        pytest.param("graphs", "needs the column `graphs`, which no batch has", id="no column"),
        pytest.param("values", "no action span has a value: log `value` on the spans", id="in the log"),
        pytest.param("q_values", "name a critic that fills it (`critic=`), or put your own in", id="a critic's"),
        pytest.param("segment", "no action span has a value: name a judge that fills it", id="whole numbers are -1"),
        pytest.param("info", "no log format read so far has it: put your own in", id="no log's"),
        pytest.param("policy_version", "no trajectory has a value: put your own in", id="one a trajectory"),
    ],
)
def test_every_column_can_be_needed(column: str, complaint: str) -> None:
    @dataclass(frozen=True)
    class Wants(Mine):
        needs: ClassVar[tuple[str, ...]] = (column,)

    with pytest.raises(tc.InputError) as caught:
        scored(batch(), "wants", Wants())
    assert complaint in str(caught.value)


@pytest.mark.parametrize("column", ["rewards", "outcome", "bootstrap", "parents", "parent_weight", "is_write", "group"])
def test_a_column_that_is_filled_serves(column: str) -> None:
    @dataclass(frozen=True)
    class Wants(Mine):
        needs: ClassVar[tuple[str, ...]] = (column,)

    assert scored(batch(), "wants", Wants()).attributor == "wants"


def test_an_exporter_that_fails_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    monkeypatch.setattr("trajcredit.exporters.jsonl.Jsonl.__call__", say(KeyError("x")))
    with pytest.raises(tc.InputError, match="exporter 'jsonl' failed: KeyError: 'x'"):
        tc.export(tc.attribute(batch(), Mine()), to="jsonl", out=tmp_path / "a.jsonl")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", sorted(attributors.items()))
def test_every_attributor_of_ours_works_on_columns_that_cannot_be_written(name: str) -> None:
    made_runs = [run("ucrca", float(n), values=[0.1, 0.2, 0.3, 0.4, 0.5], name=f"t{n}") for n in range(3)]
    runs = [msgspec.structs.replace(one, answer="an answer") for one in made_runs]  # which `clues` does not do without
    packed = batch_of(*runs)
    if name == "opo":
        packed = replace(packed, n_tokens=np.where(packed.action_mask, 2, -1))
    if name == "information_gain":  # no log has what it reads
        packed = replace(packed, info=np.where(packed.action_mask, -1.0, np.nan))
    assert not any(getattr(packed, column).flags.writeable for column in ("rewards", "values", "outcome", "parents"))
    made = attributors.get(name)()
    assert blame(scored(packed, name, made), made, 5).negative >= 0
