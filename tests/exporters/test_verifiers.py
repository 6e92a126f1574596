"""verifiers traces: rows of a trajectory as branches of one graph, advantages on its sampled nodes."""

from __future__ import annotations

import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.exporters.token_rows import token_row, two_turns
from trajcredit.exporters.verifiers import Verifiers, trace
from trajcredit.registry import exporters


def node(parent, ids, advantages=None, logprobs=()):
    sampled = advantages is not None
    message = {"role": "assistant", "content": None} if sampled else {"role": "user", "content": ""}
    found = {
        "parent": parent,
        "message": message,
        "sampled": sampled,
        "token_ids": ids,
        "mask": [sampled] * len(ids),
        "logprobs": list(logprobs),
    }
    return found | ({"advantages": advantages} if sampled else {})


def test_two_turns_by_hand() -> None:
    assert trace([two_turns()]) == {
        "version": 1,
        "id": "t",
        "task": {"type": "trajcredit", "data": {"idx": 0, "prompt": ""}, "key": "g"},
        "agent": {"config": {}, "name": "agent"},
        "nodes": [
            node(None, [7, 8]),
            node(0, [11, 12], [0.5, 0.5], [-0.5, -1.5]),
            node(1, [21, 22, 23]),
            node(2, [13], [-0.25], [-0.75]),
        ],
        "rewards": {"outcome": {"score": 1.0, "weight": 1.0}},
        "info": {"ids_source": "engine"},
        "is_completed": True,
        "ok": True,
    }


def test_a_row_whose_history_was_rewritten_leaves_where_it_differs() -> None:
    """The second row read 7 8 11, but not the 12 that followed: thoughts were stripped."""
    later = token_row([7, 8], [11, 21, 41], [0, 0, 1], [0.0, 0.0, 2.0], row=1)
    assert trace([two_turns(), later])["nodes"] == [
        node(None, [7, 8]),
        node(0, [11], [0.5], [-0.5]),
        node(1, [12], [0.5], [-1.5]),
        node(2, [21, 22, 23]),
        node(3, [13], [-0.25], [-0.75]),
        node(1, [21]),
        node(5, [41], [2.0]),
    ]


def test_tokens_that_a_row_samples_itself_are_never_shared() -> None:
    same = token_row([7, 8], [11, 12], [1, 1], [3.0, 3.0], row=1)
    assert trace([two_turns(), same])["nodes"][4:] == [node(0, [11, 12], [3.0, 3.0])]


def test_a_row_that_another_begins_with_stays_a_branch_of_its_own() -> None:
    longer = token_row([7, 8, 11, 12, 21, 22, 23, 13], [5], [1], [4.0], row=1)
    nodes = trace([two_turns(), longer])["nodes"]
    assert [branch for branch, _, _ in branches(nodes)] == [two_turns().token_ids.tolist(), longer.token_ids.tolist()]


def test_an_unscored_outcome_is_no_reward_and_missing_logprobs_none() -> None:
    found = trace([token_row([7], [1], [1], [1.0], outcome=None)])
    assert found["rewards"] == {}
    assert found["nodes"][1]["logprobs"] == []


def branches(nodes):
    """Of every leaf, in order: ids, mask and advantages spread over them (verifiers 0.4.0, v1/trace.py:169-252)."""
    inner = {each["parent"] for each in nodes}
    for leaf in (n for n in range(len(nodes)) if n not in inner):
        path, at = [], leaf
        while at is not None:
            path.append(nodes[at])
            at = nodes[at]["parent"]
        ids, mask, advantages = [], [], []
        for each in reversed(path):
            values = iter(each.get("advantages", ()))
            ids += each["token_ids"]
            mask += each["mask"]
            advantages += [next(values) if own else 0.0 for own in each["mask"]]
        yield ids, mask, advantages


def trained_once(nodes):
    """What prime-rl trains of each branch: a node that several share only in the first (trajectories.py:64-84)."""
    inner = {each["parent"] for each in nodes}
    done: set[int] = set()
    found: list[list[bool]] = []
    for leaf in (n for n in range(len(nodes)) if n not in inner):
        path, at = [], leaf
        while at is not None:
            path.append(at)
            at = nodes[at]["parent"]
        mask = []
        for n in reversed(path):
            own = nodes[n]["mask"]
            mask += [False] * len(own) if n in done else own
            done |= {n} if any(own) else set()
        found.append(mask)
    return found


tokens = st.tuples(st.integers(0, 2), st.booleans())


@given(
    st.lists(st.tuples(st.lists(st.integers(0, 2), min_size=1, max_size=4), st.lists(tokens, max_size=6)), max_size=5)
)
def test_branches_are_the_rows_and_every_token_is_trained_where_its_row_trains_it(shapes) -> None:
    rows = []
    for r, (prompt, rest) in enumerate(shapes):
        response = [(1, True), *rest]
        mask = [int(sampled) for _, sampled in response]
        advantages = [float(10 * r + k + 1) * sampled for k, (_, sampled) in enumerate(response)]
        rows.append(token_row(prompt, [token for token, _ in response], mask, advantages, row=r))
    if not rows:
        return
    nodes = trace(rows)["nodes"]
    assert all(each["parent"] is None or each["parent"] < n for n, each in enumerate(nodes))
    found = list(branches(nodes))
    assert [ids for ids, _, _ in found] == [row.token_ids.tolist() for row in rows]
    for row, (_, _, advantages), mask in zip(rows, found, trained_once(nodes), strict=True):
        whole = [False] * len(row.prompt_ids) + [own == 1 for own in row.response_mask]
        assert mask == whole
        trained = [a for a, own in zip(advantages, mask, strict=True) if own]
        assert trained == [a for a in row.advantages.tolist() if a]


def test_a_file_has_a_line_for_each_trajectory() -> None:
    rows = [two_turns(), token_row([7], [1], [1], [1.0], row=1), token_row([9], [5], [1], [3.0], trajectory="u")]
    out = io.BytesIO()
    assert Verifiers().encode(iter(rows), out) == 2
    assert [json.loads(line)["id"] for line in out.getvalue().splitlines()] == ["t", "u"]


def test_advantages_are_what_float32_holds() -> None:
    [_, sampled] = trace([token_row([7], [1], [1], [0.1])])["nodes"]
    assert sampled["advantages"] == [pytest.approx(0.1)]
    assert sampled["advantages"] != [0.1]


def test_it_is_an_exporter() -> None:
    assert exporters.items()["verifiers"].suffix == ".jsonl"
