"""Flight bookings that go wrong at the search: a data set to try attributors on, made anew on every machine alike.

python examples/flight_dataset.py [FILE] [GROUPS]

Writes chat rows, four rollouts a task: the agent searches, sometimes asks for the weather, selects an itinerary, pays
and reports. Some searches name another airport than the customer did; all else follows from what was found. The
customer notices hours later and gives a thumbs-down. Then counts, for some attributors, in how many failed bookings the
search is blamed most.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

import trajcredit as tc

SEED = 20260414
ROLLOUTS = 4
SYSTEM = "You are a travel agent. Book what the customer asks for, then report the booking."
CITIES = {
    "DEN": "Denver",
    "SJO": "San José, Costa Rica",
    "SJC": "San Jose, California",
    "LHR": "London Heathrow",
    "LGW": "London Gatwick",
    "NRT": "Tokyo Narita",
    "HND": "Tokyo Haneda",
    "ORY": "Paris Orly",
    "CDG": "Paris Charles de Gaulle",
    "BCN": "Barcelona, Spain",
    "BLA": "Barcelona, Venezuela",
    "YXU": "London, Ontario",
}
PARAMETERS = {
    "search_flights": ("from", "to", "date"),
    "get_weather": ("city",),
    "select_itinerary": ("itinerary_id",),
    "pay": ("hold_id", "payment_method"),
}
DESCRIPTIONS = {
    "search_flights": "Find flights on one day between two airports, cheapest first.",
    "get_weather": "Forecast for a city.",
    "select_itinerary": "Hold the seats of one itinerary for twenty minutes.",
    "pay": "Charge the customer's card and issue the ticket of a held itinerary.",
}
Row = dict[str, Any]


def rows(groups: int = 24, seed: int = SEED) -> Iterator[Row]:
    """Chat rows, those of a group together; in every group some bookings succeed and some fail."""
    random = Random(seed)  # noqa: S311  # a data set, no secret
    for g in range(groups):
        start, goal = random.sample(sorted(CITIES), 2)
        day = datetime(2026, 5, 1, tzinfo=UTC) + timedelta(days=random.randrange(90))
        wrong = random.choice([1, 2, 2, 3])
        failing = set(random.sample(range(ROLLOUTS), wrong))
        for k in range(ROLLOUTS):
            yield rollout(random, f"task-{g:02}", k, (start, goal, f"{day:%Y-%m-%d}"), failing=k in failing)


def rollout(random: Random, group: str, number: int, asked: tuple[str, str, str], failing: bool) -> Row:
    """One booking of what was asked: origin, destination, day."""
    start, goal, day = asked
    searched = mistaken(random, asked) if failing else asked
    wish = (
        f"Book me the cheapest flight from {CITIES[start]} ({start}) to {CITIES[goal]} ({goal}) on {day}. "
        "One adult, economy. Use the card on file."
    )
    talk: list[Row] = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": wish}]
    flights: list[Row] = [
        {
            "itinerary_id": f"ITN-{random.randrange(10_000, 99_999)}",
            "flight": f"UA{random.randrange(1000, 9999)}",
            **dict(zip(PARAMETERS["search_flights"], searched, strict=True)),
            "price_usd": price,
        }
        for price in sorted(random.sample(range(90, 700), 2))
    ]
    chosen, hold = flights[0], f"HLD-{random.randrange(16**5):05X}"
    code = "".join(random.choice("ABCDEFGHJKLMNPQRSTUVWXYZ23456789") for _ in range(6))
    use(talk, random, "search_flights", searched, {"flights": flights})
    if random.random() < 0.5:
        sky = {"forecast": random.choice(["sun", "low clouds", "rain"]), "high_c": random.randrange(8, 35)}
        use(talk, random, "get_weather", (CITIES[random.choice(sorted(CITIES))],), sky)
    use(
        talk, random, "select_itinerary", (chosen["itinerary_id"],), {"hold_id": hold, "total_usd": chosen["price_usd"]}
    )
    use(talk, random, "pay", (hold, "card_on_file"), {"status": "paid", "confirmation": code})
    talk.append({"role": "assistant", "content": f"You are all set: flight {chosen['flight']}, confirmation {code}."})
    noticed = datetime(2026, 4, 14, 9, tzinfo=UTC) + timedelta(hours=random.randrange(3, 30))
    return {
        "trajectory_id": f"{group}-{number}",
        "group_id": group,
        "reward": int(not failing),
        "reward_source": "human",
        "reward_at": f"{noticed:%Y-%m-%dT%H:%M:%SZ}",
        "tools": [tool(name) for name in PARAMETERS],
        "messages": talk,
    }


def mistaken(random: Random, asked: tuple[str, str, str]) -> tuple[str, str, str]:
    """The same search with one thing wrong: another origin, or another destination."""
    start, goal, day = asked
    other = random.choice([code for code in sorted(CITIES) if code not in (start, goal)])
    return random.choice([(other, goal, day), (start, other, day)])


def use(talk: list[Row], random: Random, name: str, values: tuple[str, ...], result: Row) -> None:
    """A call of a tool and what came of it."""
    arguments = json.dumps(dict(zip(PARAMETERS[name], values, strict=True)))
    function = {"name": name, "arguments": arguments}
    call = {"id": f"call_{random.randrange(16**12):012x}", "type": "function", "function": function}
    talk.append({"role": "assistant", "content": None, "tool_calls": [call]})
    talk.append({"role": "tool", "tool_call_id": call["id"], "name": name, "content": json.dumps(result)})


def tool(name: str) -> Row:
    """The declaration of a tool."""
    properties = {parameter: {"type": "string"} for parameter in PARAMETERS[name]}
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    function = {"name": name, "description": DESCRIPTIONS[name], "parameters": schema}
    return {"type": "function", "function": function}


def search_blamed(batch: tc.Batch, attributor: str, **parameters: Any) -> tuple[int, int]:
    """Failed bookings whose search has the least credit, by itself; and all failed bookings."""
    credit = tc.attribute(batch, attributor, **parameters).credit
    hits = failed = 0
    for t in range(batch.n_trajectories):
        if batch.outcome[t] != 0:
            continue
        spans = range(int(batch.span_offsets[t]), int(batch.span_offsets[t + 1]))
        ranked = sorted((float(credit[i]), i) for i in spans if batch.action_mask[i])
        lowest = batch.tool_names[batch.tool[ranked[0][1]]] if batch.tool[ranked[0][1]] >= 0 else ""
        hits += lowest == "search_flights" and ranked[0][0] < ranked[1][0]
        failed += 1
    return hits, failed


def main(path: Path, groups: int) -> None:
    """Write the data set and count."""
    lines = [json.dumps(row, ensure_ascii=False) for row in rows(groups)]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    print(f"{len(lines)} bookings of {groups} tasks in {path}")
    batch = tc.batch(tc.read(path))
    for name, parameters in (
        ("grpo", {}),
        ("dag", {}),
        ("shapley", {}),
        ("doubly_robust", {"w": 0.0}),
        ("doubly_robust", {"w": 0.0, "part": 0.3}),
    ):
        hits, failed = search_blamed(batch, name, **parameters)
        label = name + ":"[: len(parameters)] + ",".join(f"{key}={value:g}" for key, value in parameters.items())
        print(f"{label}: the search is blamed most in {hits} of {failed} failed bookings")


if __name__ == "__main__":
    given = sys.argv[1:]
    main(Path(given[0] if given else "flights.jsonl"), int(given[1]) if len(given) > 1 else 24)
