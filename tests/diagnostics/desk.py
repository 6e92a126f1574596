"""Episodes of an agent at a travel desk, written span by span: what generated data sets of failure modes are made of.

Nothing here knows how a failure mode is measured: knobs are what the agent does and what the log records.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

from trajcredit.model import Reward, Span, SpanTokens, Tool, Trajectory

__all__ = ["TOOLS", "Desk", "Episode", "episode", "reply", "trajectory", "words"]

TOOLS = [
    Tool("search_flights", "Find flights.", writes=False),
    Tool("get_flight", "Seats and price of a flight.", writes=False),
    Tool("get_status", "How far a request is.", writes=False),
    Tool("get_weather", "The weather of a city.", writes=False),
    Tool("get_news", "Headlines of a city.", writes=False),
    Tool("get_profile", "What is known of a customer.", writes=False),
    Tool("hold_seat", "Hold a seat.", writes=True),
    Tool("charge_card", "Charge a card.", writes=True),
    Tool("cancel_hold", "Let a held seat go.", writes=True),
]
CITIES = ("Denver", "Lima", "Oslo", "Quito", "Tunis", "Sofia", "Dhaka", "Accra", "Hanoi", "Perth", "Cusco", "Turin")
FILLER = (
    "The schedule was read once more and the seat map is plain",
    "Local time at the destination differs from home by some hours",
    "Bags are counted per person and weighed at the desk",
    "The fare rules say what may be changed and at what price",
    "There is a lounge on the second floor of the terminal",
    "Meals are served on longer legs and may be ordered before",
)


def words(draw: Random, sentences: int) -> str:
    """Plain sentences that add nothing."""
    return " ".join(f"{draw.choice(FILLER)} ({draw.randrange(10, 99)})." for _ in range(sentences))


@dataclass
class Desk:
    """One transcript in the making."""

    draw: Random
    spans: list[Span] = field(default_factory=list)
    turn: int = -1

    def user(self, text: str) -> None:
        self.spans.append(Span("user", self.turn, text))

    def system(self, text: str) -> None:
        self.spans.append(Span("system", self.turn, text))

    def say(self, text: str) -> None:
        self.turn += 1
        self.spans.append(Span("assistant", self.turn, text))

    def call(self, name: str, arguments: dict[str, Any], result: Any, error: bool = False) -> int:
        """The position of the call."""
        self.turn += 1
        at = len(self.spans)
        self.spans.append(Span("tool_call", self.turn, name=name, arguments=arguments, call_id=f"c{at}"))
        said = result if isinstance(result, str) else json.dumps(result)
        self.spans.append(Span("tool_result", self.turn, said, name=name, call_id=f"c{at}", result_of=at, error=error))
        return at

    def again(self, at: int) -> None:
        """The call at that position once more, with the same answer."""
        call, result = self.spans[at], self.spans[at + 1]
        self.call(str(call.name), dict(call.arguments), result.text, bool(result.error))


@dataclass(frozen=True)
class Episode:
    """What the agent does. Chances are 0..1 and apply call by call."""

    repeats: float = 0.02
    """Of asking again what was answered, nothing having changed."""
    polls: int = 0
    """Times a status is asked for that has changed in the meantime."""
    strays: int = 0
    """Calls whose answers nobody needs."""
    doubled: bool = False
    """The card is charged twice for one thing."""
    outdated: bool = False
    """A price that a second look has corrected is charged all the same."""
    retried: bool = False
    """The first charge fails and is made again."""
    rebooked: bool = False
    """A hold is cancelled and made again."""
    looks: int = 1
    """Flights that are looked at before one is held."""
    filler: int = 0
    """Sentences that add nothing, in the last message."""
    ending: str = ""


def episode(draw: Random, wanted: Episode) -> list[Span]:
    """Search, look, hold, charge, tell."""
    desk = Desk(draw)
    start, end = draw.sample(CITIES, 2)
    day, customer = f"2026-0{draw.randrange(1, 9)}-{draw.randrange(10, 28)}", f"CU-{draw.randrange(1000, 9999)}"
    desk.system("You book flights. Ask nothing that you can look up.")
    desk.user(f"Book {start} to {end} on {day} for {customer}, the cheapest.")
    flights = [f"{draw.choice('ABDK')}{draw.choice('WXZ')}{n}" for n in draw.sample(range(100, 999), wanted.looks + 1)]
    made = [desk.call("search_flights", {"from": start, "to": end, "date": day}, {"flights": flights})]
    for flight in flights[: wanted.looks]:
        price = draw.randrange(120, 980)
        made.append(desk.call("get_flight", {"flight": flight}, {"flight": flight, "price": price, "seats": 9}))
        if draw.random() < wanted.repeats:
            desk.again(draw.choice(made))
    for _ in range(wanted.strays):
        made.append(_stray(desk, draw.choice(CITIES)))
        if draw.random() < wanted.repeats:
            desk.again(draw.choice(made))
    if wanted.outdated:
        newer = price + draw.randrange(5, 60)
        desk.call("get_flight", {"flight": flight}, {"flight": flight, "price": newer, "seats": 3})
    hold = f"HLD-{draw.randrange(10_000, 99_999)}"
    held = desk.call("hold_seat", {"flight": flight, "customer": customer}, {"hold": hold})
    for n in range(wanted.polls):
        desk.call("get_status", {"hold": hold}, {"hold": hold, "state": "pending", "since_s": 4 + 7 * n})
    if wanted.rebooked:
        desk.call("cancel_hold", {"hold": hold}, {"cancelled": hold})
        desk.again(held)
    paid = {"hold": hold, "price": price}
    if wanted.retried:
        desk.call("charge_card", paid, "error: the card terminal did not answer", error=True)
    charge = desk.call("charge_card", paid, {"receipt": f"RCP-{draw.randrange(10_000, 99_999)}", "hold": hold})
    if wanted.doubled:
        desk.call("charge_card", paid, {"receipt": f"RCP-{draw.randrange(10_000, 99_999)}", "hold": hold})
    if draw.random() < wanted.repeats:
        desk.again(made[-1])
    receipt = json.loads(desk.spans[charge + 1].text)["receipt"]
    filler = f" {words(draw, wanted.filler)}" if wanted.filler else ""
    desk.say(f"Booked {flight}, receipt {receipt}.{filler}{wanted.ending}")
    return desk.spans


def reply(draw: Random, filler: int = 0, ending: str = "") -> list[Span]:
    """An answer without calls, for what shows in outcomes, lengths and tokens alone."""
    text = f"The answer is {draw.randrange(10**6)}. {words(draw, filler)}".strip()
    return [Span("user", -1, f"Question {draw.randrange(10**6)}?"), Span("assistant", 0, text + ending)]


def _stray(desk: Desk, city: str) -> int:
    draw = desk.draw
    name = draw.choice(("get_weather", "get_news", "get_profile"))
    if name == "get_profile":
        return desk.call(
            name, {"customer": f"CU-{draw.randrange(1000, 9999)}"}, {"tier": draw.choice(("gold", "blue"))}
        )
    return desk.call(name, {"city": city}, {"city": city, "note": words(draw, 1)})


def trajectory(
    name: str,
    task: str,
    spans: Sequence[Span],
    rewards: Sequence[Reward],
    *,
    step: int | None = None,
    version: str | None = None,
    tokens: Sequence[SpanTokens | None] | None = None,
) -> Trajectory:
    """A rollout of a task."""
    if tokens is not None:
        from msgspec.structs import replace

        spans = [replace(span, tokens=own) for span, own in zip(spans, tokens, strict=True)]
    return Trajectory(
        id=name,
        task=task,
        step=step,
        policy_version=version,
        terminated=True,
        tools=TOOLS,
        rewards=list(rewards),
        spans=list(spans),
    )
