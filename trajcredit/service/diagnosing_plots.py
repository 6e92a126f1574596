"""Pictures of a diagnosis as SVG text: no scripts, numbers and our own words only but for labels, which are escaped."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from math import floor, isfinite, log10

from trajcredit.service.diagnosing import Diagnosis
from trajcredit.visible import visible

__all__ = ["Series", "line_plot", "pictures"]

WIDTH, HEIGHT = 420, 220
LEFT, RIGHT, TOP, BOTTOM = 52, 12, 28, 40
Value = float | None
Series = Sequence[tuple[float, Value, Value, Value]]
"""(x, y, low, high) in order; null: not known."""


def pictures(found: Diagnosis) -> Iterator[str]:
    """pass@k, then rewards, pass rate, divergence and length over training, those that have two points or more."""
    passes = [(float(one.k), one.value, one.low, one.high) for one in found.pass_at_k]
    yield from line_plot("pass@k, share of groups", "k", passes, (0.0, 1.0))
    t = found.trend
    points = [((p.first + p.last) / 2, p) for p in t.points]
    yield from line_plot("Reward", t.axis, [(x, p.reward, p.reward_low, p.reward_high) for x, p in points])
    doubted = f"Doubted reward, {found.over.proxy}"
    yield from line_plot(doubted, t.axis, [(x, p.doubted, None, None) for x, p in points])
    rates = [(x, p.pass_rate, p.pass_low, p.pass_high) for x, p in points]
    yield from line_plot("Pass rate, share", t.axis, rates, (0.0, 1.0))
    yield from line_plot("KL to the reference, nats a token", t.axis, [(x, p.kl, None, None) for x, p in points])
    yield from line_plot(f"Length, {t.length_unit}", t.axis, [(x, p.length, None, None) for x, p in points])


def line_plot(title: str, axis: str, series: Series, bounds: tuple[float, float] | None = None) -> Iterator[str]:
    """A line with its 95 % band, as one <svg>; nothing where fewer than two points are known."""
    known = [(x, y, low, high) for x, y, low, high in series if y is not None and isfinite(y)]
    if len(known) < 2:
        return
    ys = [v for _, *some in known for v in some if v is not None and isfinite(v)]
    low, high = bounds or (min(ys), max(ys))
    if high == low:
        low, high = low - 0.5, high + 0.5
    xs = [x for x, *_ in known]
    span = (xs[-1] - xs[0]) or 1.0

    def at_x(x: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * (x - xs[0]) / span

    def at_y(y: float) -> float:
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * (y - low) / (high - low)

    name = _text(f"{title} by {axis}: {known[0][1]:.3g} at {xs[0]:g} to {known[-1][1]:.3g} at {xs[-1]:g}")
    parts = [
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" role="img" aria-label="{name}">',
        f'<text class="title" x="{LEFT}" y="16">{_text(title)}</text>',
    ]
    for tick in _ticks(low, high):
        y = at_y(tick)
        parts.append(f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(f'<text class="y" x="{LEFT - 6}" y="{y + 4:.1f}">{tick:g}</text>')
    for tick in _ticks(xs[0], xs[-1]):
        parts.append(f'<text class="x" x="{at_x(tick):.1f}" y="{HEIGHT - BOTTOM + 16}">{tick:g}</text>')
    parts.append(f'<text class="x" x="{(LEFT + WIDTH - RIGHT) / 2:.0f}" y="{HEIGHT - 6}">{_text(axis)}</text>')
    banded = [(x, a, b) for x, _, a, b in known if a is not None and b is not None and isfinite(a) and isfinite(b)]
    if len(banded) > 1:
        top = [f"{at_x(x):.1f},{at_y(min(b, high)):.1f}" for x, _, b in banded]
        under = [f"{at_x(x):.1f},{at_y(max(a, low)):.1f}" for x, a, _ in reversed(banded)]
        parts.append(f'<polygon class="band" points="{" ".join(top + under)}"/>')
    line = " ".join(f"{at_x(x):.1f},{at_y(y):.1f}" for x, y, *_ in known)
    parts.append(f'<polyline class="line" points="{line}"/>')
    parts += [f'<circle class="dot" cx="{at_x(x):.1f}" cy="{at_y(y):.1f}" r="2.5"/>' for x, y, *_ in known]
    yield "".join([*parts, "</svg>"])


def _ticks(low: float, high: float) -> list[float]:
    """Round numbers from low to high, four or so."""
    if high <= low:
        return [low]
    raw = (high - low) / 4
    step = 10.0 ** floor(log10(raw))
    step *= next(m for m in (1, 2, 5, 10) if m * step >= raw * 0.999)
    first = -(-low // step)
    return [round((first + i) * step, 12) for i in range(12) if (first + i) * step <= high + 1e-9 * step]


def _text(text: str) -> str:
    return escape(visible(text), quote=True)
