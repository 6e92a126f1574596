"""Laws of alignment, for three kinds of tokenizers and two templates: who owns which text, and that nothing is lost.

The expected text of every span is put together here in plain Python, not by a template. Byte-level pieces lose nothing,
nor do SentencePiece-like ones of letters they know: there decode(tokens of a span) must be that text. Whole words lose
white space and unknown words: there the tokens must be those that the text alone would have.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.tokens.tokenizers import BUILDERS, CHATML, FORGETFUL, byte_level, sentencepiece_like
from trajcredit.model import Span, Trajectory, TurnTokens
from trajcredit.tokens import SHARES, Aligned, Renderer, align

KNOWN = "abcdefghilmnoprstuwxy 0123,.!éü\n"
LOSES = "the tokenizer loses text: its ids do not spell what the policy wrote"
LEFT_OUT = "what was observed after the last answer does not go on with its row: left out"
QUICK = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@pytest.fixture(scope="module")
def renderers(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], Renderer]:
    """(tokenizer, template) -> renderer."""
    folder: Path = tmp_path_factory.mktemp("tokenizers")
    return {
        (build.__name__, name): Renderer.load(build(folder / f"{build.__name__}-{name}", template))
        for build in BUILDERS
        for name, template in (("chatml", CHATML), ("forgetful", FORGETFUL))
    }


def words(letters: str) -> st.SearchStrategy[str]:
    """Texts that neither begin nor end in white space, so that no token lies on a border."""
    return st.text(letters, min_size=1, max_size=12).map(str.strip).filter(bool)


def unusual() -> st.SearchStrategy[str]:
    """Any characters, several of which are more than one byte, and tags that are no markup of the template."""
    some = st.sampled_from(
        ["🛶", "café", "naïve", "</b>", "[/x]", "<think", "{", "}", '"', "日本", "\u200d", "a", " b"]
    )
    return st.lists(some, min_size=1, max_size=5).map("".join).map(str.strip).filter(bool)


@st.composite
def transcripts(draw: st.DrawFn, text: st.SearchStrategy[str]) -> Trajectory:
    """A user's request; turns of reasoning, text and calls with results; further words of the user."""
    spans = [Span("user", -1, text=draw(text))]
    for turn in range(draw(st.integers(1, 4))):
        calls = draw(st.integers(0, 2))
        if draw(st.booleans()):
            spans.append(Span("reasoning", turn, text=draw(text)))
        if calls == 0 or draw(st.booleans()):
            spans.append(Span("assistant", turn, text=draw(text)))
        first = len(spans)
        for _ in range(calls):
            name, key = draw(st.sampled_from(["get_user", "cancel", "name", "think"])), draw(st.sampled_from("ab"))
            spans.append(Span("tool_call", turn, name=name, arguments={key: draw(text)}))
        spans += [Span("tool_result", turn, text=draw(text), result_of=first + k) for k in range(calls)]
        if calls == 0 or draw(st.booleans()):
            spans.append(Span("user", turn, text=draw(text)))
    return Trajectory(id="t", spans=spans)


def chunks(spans: list[Span], turn: int) -> dict[int, str]:
    """Span -> the sampled text that is its own, as these templates write it."""
    mine = [(i, span) for i, span in enumerate(spans) if span.turn == turn and span.kind in ACTING]
    found: dict[int, str] = {}
    for i, span in mine:
        if span.kind == "reasoning":
            found[i] = f"<think>\n{span.text}\n</think>"
        elif span.kind == "assistant":
            found[i] = ("\n\n" if found else "") + span.text
        else:
            call = json.dumps({"name": span.name, "arguments": span.arguments}, ensure_ascii=False)
            after_thought = "\n\n" if len(found) == 1 and spans[i - 1].kind == "reasoning" else ""
            found[i] = f"{after_thought}\n<tool_call>\n{call}\n</tool_call>"
    last = mine[-1][0]
    found[last] += "<|im_end|>"
    return found


ACTING = ("reasoning", "assistant", "tool_call")


def numbers_of(trajectory: Trajectory) -> np.ndarray[Any, np.dtype[np.float64]]:
    return np.array([i + 1.0 if span.kind in ACTING else np.nan for i, span in enumerate(trajectory.spans)])


def owned_ids(found: Aligned) -> dict[int, list[int]]:
    ids: dict[int, list[int]] = {}
    for row in found.rows:
        for owned in row.spans:
            assert owned.span not in ids
            ids[owned.span] = row.response_ids[owned.start : owned.end].tolist()
    return ids


def check(trajectory: Trajectory, renderer: Renderer, exact: bool) -> Aligned:
    """The laws that hold for every tokenizer and template."""
    found = align(trajectory, numbers_of(trajectory), "g", renderer=renderer)
    assert not found.failures
    assert set(found.notes) <= ({LEFT_OUT} if exact else {LEFT_OUT, LOSES})
    wanted: dict[int, str] = {}
    for turn in range(trajectory.spans[-1].turn + 1):
        wanted |= chunks(trajectory.spans, turn)
    ids = owned_ids(found)
    assert ids.keys() == wanted.keys()
    for span, text in wanted.items():
        assert ids[span] == renderer.ids(text)
        if exact:
            assert renderer.decode(ids[span]) == text
    assert sum(row.trained for row in found.rows) == sum(map(len, ids.values()))
    for row in found.rows:
        trained = [id_ for id_, own in zip(row.response_ids.tolist(), row.response_mask.tolist(), strict=True) if own]
        assert trained == [id_ for owned in row.spans for id_ in ids[owned.span]]
    return found


@QUICK
@given(data=st.data())
@pytest.mark.parametrize("template", ["chatml", "forgetful"])
@pytest.mark.parametrize(
    ("tokenizer", "text", "exact"),
    [
        pytest.param("byte_level", unusual() | words(KNOWN), True, id="bytes"),
        pytest.param("sentencepiece_like", words(KNOWN), True, id="pieces"),
        pytest.param("word_level", words(KNOWN), False, id="words"),
    ],
)
def test_every_span_owns_exactly_what_was_sampled_of_it(renderers, tokenizer, template, text, exact, data):
    trajectory = data.draw(transcripts(text))
    renderer = renderers[tokenizer, template]
    found = check(trajectory, renderer, exact)
    if template == "chatml":
        assert len(found.rows) == 1
    for share in SHARES:
        shared = align(trajectory, numbers_of(trajectory), "g", renderer=renderer, share=share)
        sums: Counter[int] = Counter()
        count: Counter[int] = Counter()
        for row in shared.rows:
            assert not row.advantages[row.response_mask == 0].any()
            for owned in row.spans:
                sums[owned.span] += float(row.advantages[owned.start : owned.end].sum())  # type: ignore[assignment]
                count[owned.span] += owned.end - owned.start
        for span, total in sums.items():
            assert total == pytest.approx((span + 1) * (count[span] if share == "copy" else 1))


@QUICK
@given(data=st.data())
@pytest.mark.parametrize(
    ("tokenizer", "text"),
    [
        pytest.param("byte_level", unusual() | words(KNOWN), id="bytes"),
        pytest.param("sentencepiece_like", words(KNOWN), id="pieces"),
    ],
)
@pytest.mark.parametrize("template", ["chatml", "forgetful"])
def test_ids_that_were_logged_are_cut_where_the_text_is(renderers, tokenizer, template, text, data):
    """The same tokens, now logged by turn and not by span: decoding tells the spans apart at the same places."""
    trajectory = data.draw(transcripts(text))
    renderer = renderers[tokenizer, template]
    from_text = align(trajectory, numbers_of(trajectory), "g", renderer=renderer)
    turns = []
    for row in from_text.rows:
        start = len(row.prompt_ids)
        for turn in sorted({owned.turn for owned in row.spans}):
            places = [(owned.start + start, owned.end + start) for owned in row.spans if owned.turn == turn]
            ids = row.token_ids.tolist()
            turns.append(TurnTokens(turn, ids[: places[0][0]], ids[places[0][0] : places[-1][1]]))
    logged = Trajectory(id="t", spans=trajectory.spans, turns=turns)
    found = align(logged, numbers_of(trajectory), "g", renderer=renderer)
    assert not found.failures
    for one, other in zip(found.rows, from_text.rows, strict=True):
        assert one.ids_source == "engine"
        n = len(one.response_ids)  # from text, what was observed after the last answer stands behind
        assert one.token_ids.tolist() == other.token_ids.tolist()[: len(one.token_ids)]
        assert one.advantages.tolist() == other.advantages.tolist()[:n]
        assert one.spans == other.spans


@QUICK
@given(data=st.data())
@pytest.mark.parametrize("build", [byte_level, sentencepiece_like], ids=["bytes", "pieces"])
def test_ids_are_spelled_letter_by_letter(renderers, build, data):
    renderer = renderers[build.__name__, "chatml"]
    text = data.draw(unusual() if build is byte_level else words(KNOWN))
    ids, starts = renderer.pieces(text)
    spelled, places = renderer.spelled(ids)
    assert spelled == text
    assert places.tolist() == starts.tolist()
