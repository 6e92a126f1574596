"""Failed rollouts that did what nobody asked for: relabelled where no doubt is left, else refused with the reason."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from trajcredit.batching import pack
from trajcredit.errors import InputError
from trajcredit.graph import build_graphs
from trajcredit.model import (
    ACTION_KINDS,
    Edge,
    Reward,
    Span,
    SpanTokens,
    SpawnedBy,
    Tool,
    Trajectory,
    TurnTokens,
    decode,
)
from trajcredit.service.relabelling import REASONS, Relabelled, lines, relabel
from trajcredit.service.relabelling_goals import occurrences, replaced, written_value

TOOLS = [Tool("find", writes=False), Tool("book", writes=True), Tool("cancel", writes=True)]
WISH = "Please book a flight to Rome for me."


def told(text: str, kind: Any = "user") -> Span:
    return Span(kind=kind, turn=-1, text=text)


def did(tool: str, arguments: dict[str, Any], result: str = "ok", error: bool | None = None) -> tuple[Span, Span]:
    return (
        Span(kind="tool_call", turn=0, name=tool, arguments=arguments),
        Span(kind="tool_result", turn=0, name=tool, text=result, error=error),
    )


def rollout(
    name: str, outcome: float | None, *steps: Span | tuple[Span, Span], wish: str = WISH, **rest: Any
) -> Trajectory:
    """The wish, the steps (results answer the call before them), and an answer."""
    spans = [told(wish)]
    for step in (*steps, told("Done.", "assistant")):
        for span in step if isinstance(step, tuple) else (step,):
            answers = len(spans) - 1 if span.kind == "tool_result" else None
            acts = span.kind in ACTION_KINDS and spans[-1].kind not in ACTION_KINDS
            spans.append(msgspec.structs.replace(span, result_of=answers, turn=spans[-1].turn + acts))
    rewards = [] if outcome is None else [Reward(outcome)]
    return Trajectory(id=name, spans=spans, rewards=rewards, tools=TOOLS, **{"group": "g", **rest})


GOOD = rollout("good", 1.0, did("book", {"to": "Rome", "seats": 2}))
PARIS = did("book", {"to": "Paris", "seats": 2})


def of(*runs: Trajectory, **how: Any) -> Relabelled:
    return relabel(pack(build_graphs(list(runs))), **how)


def code(*runs: Trajectory) -> str:
    """Why the only failed rollout was refused."""
    found = of(*runs)
    assert not found.trajectories
    (refusal,) = found.summary.refusals
    assert found.summary.refused == {refusal.code: 1}
    assert refusal.code in REASONS
    return refusal.code


def test_the_achieved_goal_takes_the_place_of_the_asked() -> None:
    bad = rollout("bad", 0.0, PARIS, dataset="d", task="t")
    (new,) = of(GOOD, bad).trajectories
    assert new.spans[0].text == "Please book a flight to Paris for me."
    assert new.spans[1:] == bad.spans[1:]
    assert new.rewards == [Reward(1.0, source="judge", name="hindsight")]
    assert (new.id, new.group, new.task, new.dataset) == (
        "bad#hindsight",
        "g#hindsight/bad",
        "t#hindsight/bad",
        "d#hindsight",
    )
    (note,) = new.report
    assert (note.code, note.span) == ("hindsight", 1)
    assert "asked 'Rome', did 'Paris' (book: to)" in note.message
    assert "no one's verdict" in note.message


def test_the_original_is_untouched_and_the_new_one_never_joins_its_group() -> None:
    bad = rollout("bad", 0.0, PARIS)
    (new,) = of(GOOD, bad).trajectories
    batch = pack(build_graphs([GOOD, bad, new]), reward="hindsight")
    assert batch.group.tolist() == [0, 0, 1]
    assert bad.spans[0].text == WISH


def test_every_message_of_the_user_that_names_it_is_replaced() -> None:
    bad = rollout("bad", 0.0, told("Rome, I said."), PARIS)
    (new,) = of(GOOD, bad).trajectories
    assert [span.text for span in new.spans if span.kind == "user"] == [WISH.replace("Rome", "Paris"), "Paris, I said."]


def test_several_values_are_replaced_at_once() -> None:
    wish = "Book Rome on 2024-05-20."
    good = rollout("good", 1.0, did("book", {"to": "Rome", "day": "2024-05-20"}), wish=wish)
    bad = rollout("bad", 0.0, did("book", {"to": "Paris", "day": "2024-05-21"}), wish=wish)
    (new,) = of(good, bad).trajectories
    assert new.spans[0].text == "Book Paris on 2024-05-21."
    assert len(new.report) == 2


def test_what_was_recorded_under_the_old_words_is_dropped() -> None:
    bad = rollout("bad", 0.0, PARIS)
    tokens = SpanTokens(ids=[1, 2], logprobs=[-1.0, -2.0])
    spans = [msgspec.structs.replace(span, tokens=tokens, value=0.5) for span in bad.spans]
    bad = msgspec.structs.replace(
        bad,
        spans=spans,
        turns=[TurnTokens(0, prompt_ids=[1], sampled_ids=[2])],
        answer="Rome",
        bootstrap=0.3,
        parent=SpawnedBy("boss"),
        edges=[Edge(0, 1, "explicit", evidence="Rome")],
    )
    (new,) = of(GOOD, bad).trajectories
    assert (new.turns, new.answer, new.bootstrap, new.parent) == ([], None, None, None)
    assert new.edges == [Edge(0, 1, "explicit")]
    assert [span.tokens for span in new.spans] == [None, *[SpanTokens(n=2)] * 3]
    assert {span.value for span in new.spans} == {None}


def test_lines_are_canonical() -> None:
    found = of(GOOD, rollout("bad", 0.0, PARIS))
    assert [decode(line) for line in lines(found)] == list(found.trajectories)


def test_what_passes_is_left_alone_and_the_reward_passes_at_the_same_figure() -> None:
    good = msgspec.structs.replace(GOOD, rewards=[Reward(80.0)])
    bad = rollout("bad", 79.0, PARIS)
    found = of(good, bad, pass_at=80)
    assert (found.summary.read, found.summary.passing, found.summary.relabelled) == (2, 1, 1)
    assert found.trajectories[0].rewards[0].value == 80.0
    assert not of(good, bad, pass_at=79).summary.refusals


SYSTEM = told("Rome is the default.", "system")


@pytest.mark.parametrize(
    ("runs", "why"),
    [
        pytest.param([GOOD, rollout("bad", None, PARIS)], "unscored", id="nobody scored it"),
        pytest.param([GOOD, rollout("bad", 0.0, PARIS, truncated=True)], "cut-off", id="it was cut off"),
        pytest.param(
            [msgspec.structs.replace(GOOD, group="h"), rollout("bad", 0.0, PARIS)],
            "no-passing-sibling",
            id="only another group passes",
        ),
        pytest.param([GOOD, rollout("bad", 0.0)], "no-effect", id="it did nothing"),
        pytest.param(
            [GOOD, rollout("bad", 0.0, did("book", {"to": "Paris", "seats": 2}, "full", error=True))],
            "no-effect",
            id="what it tried failed",
        ),
        pytest.param([rollout("good", 1.0), rollout("bad", 0.0, PARIS)], "sibling-without-effect", id="asked for none"),
        pytest.param(
            [GOOD, rollout("bad", 0.0, PARIS, did("cancel", {"id": "ABC"}))], "other-effects", id="it did more"
        ),
        pytest.param(
            [GOOD, rollout("bad", 0.0, did("book", {"to": "Paris"}))], "other-effects", id="with other arguments"
        ),
        pytest.param(
            [
                rollout("good", 1.0, did("book", {"to": "Rome"}), did("book", {"to": "Oslo"})),
                rollout("bad", 0.0, did("book", {"to": "Paris"}), did("book", {"to": "Lima"})),
            ],
            "other-effects",
            id="which of two calls stands for which is unknown",
        ),
        pytest.param(
            [GOOD, rollout("bad", 0.0, did("book", {"to": "Rome", "seats": 2}))],
            "same-effects",
            id="it did what was asked",
        ),
        pytest.param(
            [GOOD, rollout("other", 1.0, did("book", {"to": "Oslo", "seats": 2})), rollout("bad", 0.0, PARIS)],
            "siblings-differ",
            id="both Rome and Oslo pass",
        ),
        pytest.param(
            [GOOD, rollout("bad", 0.0, did("book", {"to": "Rome", "seats": 3}), wish=WISH + " 2 seats.")],
            "no-word",
            id="a 2 stands for too much",
        ),
        pytest.param(
            [rollout("good", 1.0, did("book", {"to": []})), rollout("bad", 0.0, did("book", {"to": {}}))],
            "no-word",
            id="no single value",
        ),
        pytest.param(
            [
                rollout("good", 1.0, did("book", {"stops": ["Rome", "Rome"]})),
                rollout("bad", 0.0, did("book", {"stops": ["Paris", "Oslo"]})),
            ],
            "several-keys",
            id="Rome became two things",
        ),
        pytest.param(
            [
                rollout("good", 1.0, did("book", {"to": "Rome", "from": "Rome"})),
                rollout("bad", 0.0, did("book", {"to": "Paris", "from": "Rome"})),
            ],
            "several-keys",
            id="Rome is two things",
        ),
        pytest.param(
            [GOOD, rollout("bad", 0.0, PARIS, wish="Book the flight we spoke of.")], "not-named", id="never said"
        ),
        pytest.param([GOOD, rollout("bad", 0.0, PARIS, wish="Book Rome-East.")], "not-named", id="part of a word"),
        pytest.param([GOOD, rollout("bad", 0.0, PARIS, wish="Rome! I mean Rome.")], "named-twice", id="said twice"),
        pytest.param([GOOD, rollout("bad", 0.0, PARIS, wish="Rome, ROME!")], "named-twice", id="said in capitals too"),
        pytest.param(
            [GOOD, rollout("bad", 0.0, PARIS, wish="Rome, not paris.")], "achieved-named", id="the other is named"
        ),
        pytest.param(
            [GOOD, rollout("bad", 0.0, told("So, Rome.", "assistant"), PARIS)],
            "still-followed",
            id="the agent says it",
        ),
        pytest.param(
            [GOOD, rollout("bad", 0.0, did("find", {"city": "rome"}), PARIS)], "still-followed", id="a call names it"
        ),
        pytest.param([GOOD, rollout("bad", 0.0, SYSTEM, PARIS)], "still-followed", id="the system prompt names it"),
        pytest.param(
            [GOOD, rollout("bad", 0.0, did("book", {"to": "Paris", "seats": 2}, "Rome was full"))],
            "result-names-it",
            id="the result names it",
        ),
        pytest.param(
            [GOOD, rollout("bad", 0.0, PARIS, told("I wanted Rome!"))],
            "named-afterwards",
            id="the user complains",
        ),
    ],
)
def test_doubt_is_refused(runs: list[Trajectory], why: str) -> None:
    assert code(*runs) == why


def test_a_call_that_the_passing_outcome_rests_on_must_have_been_made() -> None:
    look = did("find", {"airline": "any"}, "flight XK42710")
    good = rollout("good", 1.0, look, did("book", {"to": "Rome", "flight": "XK42710"}))
    paris = did("book", {"to": "Paris", "flight": "XK42710"})
    assert code(good, rollout("bad", 0.0, paris)) == "did-less"
    assert len(of(good, rollout("bad", 0.0, look, paris)).trajectories) == 1


def test_so_must_a_call_about_the_asked_thing_that_nothing_rests_on() -> None:
    good = rollout("good", 1.0, did("find", {"city": "Rome"}, "yes"), did("book", {"to": "Rome", "seats": 2}))
    assert code(good, rollout("bad", 0.0, PARIS)) == "did-less"


def test_a_call_beside_the_path_need_not_have_been_made() -> None:
    good = rollout("good", 1.0, did("find", {"city": "Oslo"}, "nothing"), did("book", {"to": "Rome", "seats": 2}))
    assert len(of(good, rollout("bad", 0.0, PARIS)).trajectories) == 1


def test_other_words_of_the_user_that_fit_only_what_was_asked_are_a_contradiction() -> None:
    wish = "Refund order 062236, it cost 59 dollars."

    def refund(name: str, outcome: float, order: str, total: int) -> Trajectory:
        found = did("find", {"order": order}, f"order {order} total {total}")
        return rollout(name, outcome, found, did("cancel", {"order": order}), wish=wish)

    assert code(refund("good", 1.0, "062236", 59), refund("bad", 0.0, "062237", 226)) == "other-words"
    assert len(of(refund("good", 1.0, "062236", 59), refund("bad", 0.0, "062237", 59)).trajectories) == 1


def test_a_second_sibling_may_bear_out_what_the_first_does_not() -> None:
    look = did("find", {"city": "Rome"}, "flight XK42710")
    wary = rollout("wary", 1.0, look, did("book", {"to": "Rome", "flight": "XK42710"}))
    plain = rollout("plain", 1.0, did("book", {"to": "Rome", "flight": "XK42710"}))
    bad = rollout("bad", 0.0, did("book", {"to": "Paris", "flight": "XK42710"}))
    assert len(of(wary, plain, bad).trajectories) == 1


@pytest.mark.parametrize(
    ("value", "text", "count"),
    [
        ("Rome", "Rome, Rome. (Rome)", 3),
        ("Rome", "Romeo in Jerome", 0),
        ("500", "1,500 or 500.5 or 500", 1),
        ("05", "2024-05-20", 0),
        ("a.b", "axb a.b", 1),
        ("out/x", "out/x.csv and out/x.", 1),
    ],
)
def test_a_value_is_found_as_a_whole_word(value: str, text: str, count: int) -> None:
    assert occurrences(value, text) == count


def test_values_that_change_places_are_replaced_at_once() -> None:
    assert replaced("from Rome to Oslo", {"Rome": "Oslo", "Oslo": "Rome"}) == "from Oslo to Rome"


@pytest.mark.parametrize(("value", "text"), [(True, None), (None, None), ([], None), ("ab", None), (12, None)])
def test_values_that_say_too_little_are_no_words(value: object, text: None) -> None:
    assert written_value(value) is text


def test_numbers_are_words_as_they_are_written() -> None:
    assert [written_value(value) for value in (1500, 12.5, " Rome ")] == ["1500", "12.5", "Rome"]


def test_a_figure_that_is_none_is_refused() -> None:
    with pytest.raises(InputError, match="pass-at is nan"):
        of(GOOD, pass_at=float("nan"))
