"""Long runs are put together from short renderings, where that is what rendering them whole would give."""

from __future__ import annotations

from typing import Any

import pytest

from tests.tokens.hand import ASK, aligned, why
from tests.tokens.tokenizers import CHATML, FORGETFUL
from trajcredit.model import Span
from trajcredit.tokens import Aligned, Renderer


def long_run(turns: int) -> list[Span]:
    spans = [Span("system", -1, text="Be brief."), ASK]
    for turn in range(turns):
        spans += [Span("reasoning", turn, text=f"hm {turn}"), Span("assistant", turn, text=f"Step {turn}.")]
        spans += [Span("tool_call", turn, name="get", arguments={"id": turn})]
        spans += [Span("tool_result", turn, text=f"r{turn}", result_of=len(spans) - 1)]
        if turn % 5 == 4:
            spans.append(Span("user", turn, text="more"))
    return spans


def counted(renderer: Renderer, monkeypatch: Any) -> list[int]:
    """How many messages each rendering has, as they happen."""
    sizes: list[int] = []
    render = Renderer.render

    def counting(self: Renderer, messages: Any, tools: Any, **more: Any) -> str:
        sizes.append(len(messages))
        return render(self, messages, tools, **more)

    monkeypatch.setattr(Renderer, "render", counting)
    return sizes


def rows_of(found: Aligned) -> list[tuple[list[int], list[int], list[float], Any]]:
    return [
        (row.token_ids.tolist(), row.response_mask.tolist(), row.advantages.tolist(), row.spans) for row in found.rows
    ]


LENGTH = "{%- if messages | length > 30 %}{%- set messages = messages[-30:] %}{%- endif %}"
ASKS = "{%- if add_generation_prompt %}{{- '<|im_start|>assistant"
FIRST = "{%- if messages | length == 5 %}{{- 'five' }}{%- endif %}"


@pytest.mark.parametrize(
    ("template", "linear"),
    [
        pytest.param(CHATML, True, id="appends"),
        pytest.param(FORGETFUL, True, id="forgets what was thought before the last question"),
        pytest.param(FORGETFUL.replace("loop.index0 > ns.asked", "loop.last"), True, id="forgets every thought"),
        pytest.param(FORGETFUL.replace(ASKS, ASKS.replace("assistant", "assistant\\n<think>")), True, id="opens it"),
        pytest.param(
            FORGETFUL.replace("loop.index0 > ns.asked", "loop.index0 > messages | length - 9"),
            False,
            id="forgets what was thought long ago",
        ),
        pytest.param(
            FORGETFUL.replace("loop.index0 > ns.asked", "(loop.index0 > ns.asked or messages | length < 70)"),
            False,
            id="forgets once there is much",
        ),
        pytest.param(LENGTH + CHATML, False, id="keeps the last messages only"),
        pytest.param(CHATML + FIRST, False, id="another early prompt"),
    ],
)
def test_a_long_run_is_put_together_as_it_would_be_rendered(load, monkeypatch, template, linear):
    renderer = load(template)
    spans = [*long_run(40), Span("meta", 39, text="Summary: so far."), *(Span("assistant", 40, text="No."),)]
    monkeypatch.setattr("trajcredit.tokens.rendered.FEW", 10**6)
    slow = aligned(spans, renderer)
    monkeypatch.undo()
    sizes = counted(renderer, monkeypatch)
    quick = aligned(spans, renderer)
    assert rows_of(quick) == rows_of(slow)
    assert (quick.notes, [f.reason for f in quick.failures]) == (slow.notes, [f.reason for f in slow.failures])
    assert not linear or sum(size > 20 for size in sizes) < 20


def test_a_failure_late_in_a_long_run_has_its_place(changed):
    spans = long_run(40)
    at = next(i for i, span in enumerate(spans) if span.text == "Step 37.")
    renderer = changed(("message.content or ''", "(message.content or '').replace('37', '38')"))
    assert why(aligned(spans, renderer)) == (
        37,
        at,
        "the chat template writes 'Step 38.' where the log has 'Step 37.'",
    )
