"""Inspect AI logs: JSON and `.eval` archives, samples and their events."""

from __future__ import annotations

import io
import json
import struct
import zipfile
import zlib
from typing import Any

import pytest
import zstandard

from tests.formats.outline import codes, errors, found, outline, read_one
from trajcredit.formats import read_bytes
from trajcredit.formats.inspect_archive import Archive, is_archive
from trajcredit.model import Reward, SpanTokens, SpawnedBy, Trajectory, TurnTokens


def message(role: str, content: Any = "", ref: str | None = None, **more: Any) -> dict[str, Any]:
    return {"role": role, "content": content, **({"id": ref} if ref else {}), **more}


ASK = message("user", "2 + 2?", "m1")
SUM = message("assistant", "4", "m2")


def sample(*messages: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"id": "q", "epoch": 1, "input": "2 + 2?", "target": "4", "messages": list(messages), **fields}


def log(*samples: dict[str, Any]) -> dict[str, Any]:
    about = {"run_id": "run", "task": "sums", "model": "p/m"}
    return {"version": 2, "status": "success", "eval": about, "plan": {}, "samples": list(samples)}


def eval_file(*samples: dict[str, Any], header: str = "header.json", packed: int = zipfile.ZIP_DEFLATED) -> bytes:
    file = io.BytesIO()
    about = {key: value for key, value in log().items() if key != "samples"}
    with zipfile.ZipFile(file, "w", packed) as archive:
        archive.writestr(header, json.dumps(about))
        for one in samples:
            archive.writestr(f"samples/{one['id']}_epoch_{one['epoch']}.json", json.dumps(one))
        archive.writestr("summaries.json", "[]")
    return file.getvalue()


def span(ref: str, parent: str | None, kind: str | None, name: str) -> dict[str, Any]:
    return {"event": "span_begin", "id": ref, "parent_id": parent, "type": kind, "name": name}


def model(at: str | None, asked: list[Any], answer: dict[str, Any], **more: Any) -> dict[str, Any]:
    output = {"choices": [{"message": answer}], "usage": {"input_tokens": 9, "output_tokens": 2}}
    return {"event": "model", "span_id": at, "model": "p/m", "input": asked, "output": output, **more}


def test_epochs_of_a_sample_are_trials_of_one_task() -> None:
    both = found(log(*(sample(ASK, SUM, epoch=k, scores={"match": {"value": v}}) for k, v in ((1, "C"), (2, "I")))))
    assert [(t.id, t.task, t.trial, t.dataset) for t in both] == [
        ("run:q:1", "sums/q", "1", "run"),
        ("run:q:2", "sums/q", "2", "run"),
    ]
    assert [[r.value for r in t.rewards] for t in both] == [[1.0], [0.0]]
    assert (both[0].answer, both[0].model) == ("4", "p/m")


@pytest.mark.parametrize(
    ("value", "rewards", "noted"),
    [
        ("P", [Reward(0.5, name="s")], []),
        ("N", [Reward(0.0, name="s")], []),
        (True, [Reward(1.0, name="s")], []),
        (0.25, [Reward(0.25, name="s")], []),
        ({"a": 1, "b": "C"}, [Reward(1.0, name="s.b"), Reward(1.0, name="s.a")], ["several-scores"]),
        ([1, 2], [], ["unread-score"]),
        ("well done", [], ["unread-score"]),
    ],
)
def test_what_scorers_give(value: Any, rewards: list[Reward], noted: list[str]) -> None:
    trajectory = read_one(log(sample(ASK, SUM, scores={"s": {"value": value}})))
    assert (trajectory.rewards, codes(trajectory)) == (rewards, noted)


def test_the_first_scorer_counts() -> None:
    scores = {"first": {"value": "C"}, "second": {"value": "I"}}
    trajectory = read_one(log(sample(ASK, SUM, scores=scores)))
    assert trajectory.rewards[-1] == Reward(1.0, name="first")


def test_reasoning_calls_and_errors_of_tools() -> None:
    calls = [
        {"id": "c1", "function": "add", "arguments": {"a": 2}},
        {"id": "c2", "function": "add", "arguments": {"raw": "{"}, "parse_error": "cut"},
    ]
    thought = {"type": "reasoning", "reasoning": "sealed", "redacted": True, "summary": "Add."}
    hosted = {"type": "tool_use", "id": "w", "name": "search", "arguments": '{"q": 1}', "result": "found"}
    answer = message("assistant", [thought, {"type": "text", "text": "I add."}], "m2", tool_calls=calls)
    back = message("tool", "", tool_call_id="c1", function="add", error={"type": "timeout", "message": "late"})
    last = message("assistant", [hosted, {"type": "text", "text": "4"}], "m3")
    trajectory = read_one(log(sample(ASK, answer, back, message("tool", "4", tool_call_id="c2"), last)))
    assert outline(trajectory) == [
        "-1 user 2 + 2?",
        "0 reasoning Add.",
        "0 assistant I add.",
        "0 tool_call add",
        "0 tool_call add",
        "0 tool_result add of 3 ! late",
        "0 tool_result add of 4 4",
        "1 tool_call search",
        "1 tool_result search of 7 found",
        "2 assistant 4",
    ]
    assert codes(trajectory) == ["broken-arguments"]


def test_texts_kept_apart_come_back_and_events_give_times_and_counts() -> None:
    asked = message("user", "attachment://h", "m1")
    event = model(None, [asked], SUM, timestamp="2026-03-01T08:00:00", completed="2026-03-01T08:00:02")
    trajectory = read_one(log(sample(asked, SUM, attachments={"h": "2 + 2?"}, events=[event])))
    assert outline(trajectory) == ["-1 user 2 + 2?", "0 assistant 4"]
    answer = trajectory.spans[1]
    assert (answer.started_at, answer.ended_at) == ("2026-03-01T08:00:00", "2026-03-01T08:00:02")
    assert answer.usage == {"input_tokens": 9, "output_tokens": 2}


def test_an_agent_with_a_context_of_its_own_belongs_to_the_call_it_worked_for() -> None:
    calls = [{"id": "c1", "function": "helper", "arguments": {}}]
    first = message("assistant", "", "m2", tool_calls=calls)
    back = message("tool", "4", "m3", tool_call_id="c1", function="helper")
    inner = [message("user", "Sum?", "h1"), message("assistant", "4", "h2")]
    pool = [ASK, first, back, inner[0]]
    events = [
        span("A", None, "agent", "main"),
        model("A", [], first, input_refs=[[0, 1]]),
        span("T", "A", "tool", "helper"),
        span("B", "T", "agent", "helper"),
        model("B", [], inner[1], input_refs=[[3, 4]]),
        {"event": "tool", "span_id": "A", "id": "c1", "function": "helper", "arguments": {}, "result": "4"},
        model("A", [], message("assistant", "4", "m4"), input_refs=[[0, 3]]),
        span("S", None, "scorers", "scorers"),
        model("S", [ASK], message("assistant", "GRADE: C", "g")),
    ]
    final = [ASK, first, back, message("assistant", "4", "m4")]
    main, agent = found(log(sample(*final, events=events, events_data={"messages": pool})))
    assert (agent.id, agent.role, agent.parent) == ("run:q:1/helper", "helper", SpawnedBy("run:q:1", 1))
    assert outline(agent) == ["-1 user Sum?", "0 assistant 4"]
    assert len(main.spans) == 4


def test_after_a_compaction_the_events_hold_what_the_messages_lost() -> None:
    summary = message("user", "So far: 4.", "m9")
    events = [
        model(None, [ASK], SUM),
        {"event": "compaction"},
        model(None, [summary], message("assistant", "Yes.", "m10")),
    ]
    trajectory = read_one(log(sample(summary, message("assistant", "Yes.", "m10"), events=events)))
    assert outline(trajectory) == [
        "-1 user 2 + 2?",
        "0 assistant 4",
        "0 meta the context was rewritten",
        "0 user So far: 4.",
        "1 assistant Yes.",
    ]
    assert codes(trajectory) == ["rewritten-context"]


def test_requests_that_repeat_the_history_are_read_once_also_without_ids() -> None:
    ask, one, more = message("user", "Hi"), message("assistant", "Hi"), message("user", "Hi")
    events = [model("A", [ask], one), model("A", [ask, one, more], message("assistant", "Bye"))]
    trajectory = read_one({"events": [span("A", None, "agent", "a"), *events]})
    assert outline(trajectory) == ["-1 user Hi", "0 assistant Hi", "0 user Hi", "1 assistant Bye"]


def test_a_sample_that_ended_early_or_broke() -> None:
    cut = read_one(log(sample(ASK, SUM, limit={"type": "token", "limit": 5})))
    assert (cut.terminated, cut.truncated) == (False, True)
    broken = read_one(log(sample(error={"message": "no sandbox"})))
    assert (broken.terminated, broken.truncated, codes(broken)) == (False, False, ["no-action", "run-error"])
    assert outline(broken) == ["-1 user 2 + 2?"]


def test_a_broken_sample_costs_no_other() -> None:
    data = json.dumps(log(sample(ASK, SUM), sample(ASK, epoch="two"))).encode()
    assert errors(data) == ["log.json: record 2: Expected `int | null`, got `str` - at `$.epoch`"]


# ---------------------------------------------------------------- archives


@pytest.mark.parametrize("header", ["header.json", "_journal/start.json"])
def test_an_archive_is_what_its_json_form_is(header: str) -> None:
    samples = [sample(ASK, SUM, scores={"match": {"value": "C"}}), sample(ASK, SUM, epoch=2)]
    packed = list(read_bytes(eval_file(*samples, header=header), "log.json"))
    plain = found(log(*samples))
    assert [(t.id, t.spans, t.rewards) for t in packed if isinstance(t, Trajectory)] == [
        (t.id, t.spans, t.rewards) for t in plain
    ]


def zstd_zip(name: str, content: bytes, others: bytes) -> bytes:
    """An archive with one more member in the compression that the standard library cannot write."""
    body = zstandard.compress(content)
    start, crc = others.index(b"PK\x01\x02"), zlib.crc32(content)
    head = struct.pack("<4sHHHHHIIIHH", b"PK\x03\x04", 63, 0, 93, 0, 33, crc, len(body), len(content), len(name), 0)
    entry = struct.pack(
        "<4sHHHHHHIIIHHHHHII",
        b"PK\x01\x02",
        63,
        63,
        0,
        93,
        0,
        33,
        crc,
        len(body),
        len(content),
        len(name),
        0,
        0,
        0,
        0,
        0,
        start,
    )
    member = head + name.encode() + body
    end = others.rindex(b"PK\x05\x06")
    directory = others[start:end] + entry + name.encode()
    count = struct.unpack_from("<H", others, end + 10)[0] + 1
    tail = struct.pack("<4sHHHHIIH", b"PK\x05\x06", 0, 0, count, count, len(directory), start + len(member), 0)
    return others[:start] + member + directory + tail


def test_members_that_are_packed_with_zstd_are_read() -> None:
    data = zstd_zip(
        "samples/q_epoch_2.json", json.dumps(sample(ASK, SUM, epoch=2)).encode(), eval_file(sample(ASK, SUM))
    )
    assert [t.id for t in found(data)] == ["run:q:1", "run:q:2"]


def test_a_damaged_member_costs_no_other() -> None:
    data = bytearray(eval_file(sample(ASK, SUM), sample(ASK, SUM, epoch=2)))
    second = data.rindex(b"samples/q_epoch_2.json", 0, data.index(b"PK\x01\x02"))
    data[second + 40] ^= 0xFF
    items = list(read_bytes(bytes(data), "a.eval"))
    assert [isinstance(item, Trajectory) for item in items] == [True, False]
    assert "samples/q_epoch_2.json in the archive is damaged" in str(items[1])


SMALL = "a.eval: the archive holds more than the 2 MiB it may decode to"


def test_an_archive_that_decodes_to_too_much_is_refused_at_the_limit() -> None:
    data = eval_file(sample(message("user", "x" * 3_000_000)))
    assert len(data) < 10_000
    archive = Archive(data, "a.eval", 2 << 20)
    assert archive.header
    assert [str(item) for item in archive.samples()] == [SMALL]
    assert str(next(read_bytes(data, "a.eval", limit=2 << 20))) == SMALL


def test_another_zip_is_no_log_and_names_that_climb_are_passed_over() -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("notes.txt", "header.json")
    assert not is_archive(file.getvalue())
    assert errors(file.getvalue()) == ["log.json: no known format: it holds no JSON objects"]
    climbing = io.BytesIO(eval_file(sample(ASK, SUM)))
    with zipfile.ZipFile(climbing, "a") as archive:
        archive.writestr("samples/../../etc.json", json.dumps(sample(ASK, SUM, epoch=2)))
    assert [t.id for t in found(climbing.getvalue())] == ["run:q:1"]


def test_an_archive_of_too_many_members_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trajcredit.formats.inspect_archive.MOST_MEMBERS", 2)
    assert errors(eval_file(sample(ASK, SUM))) == ["log.json: the archive has more than 2 members"]


@pytest.mark.parametrize("cut", [0.3, 0.6, 0.9])
def test_a_torn_archive_is_no_crash(cut: float) -> None:
    data = eval_file(sample(ASK, SUM))
    assert errors(data[: int(len(data) * cut)], format="inspect")


# ---------------------------------------------------------------- attempts that failed, log-probs, what archives hold


def test_an_attempt_that_failed_is_a_trajectory_of_its_own_where_its_work_is_kept() -> None:
    events = [model(None, [ASK], message("assistant", "5", "m7"))]
    kept = {"message": "out of memory", "traceback": "", "events": events}
    last, first = found(
        log(sample(ASK, SUM, scores={"match": {"value": "C"}}, error_retries=[{"message": "no sandbox"}, kept]))
    )
    assert (last.id, first.id, first.task, first.terminated) == ("run:q:1", "run:q:1/attempt-2", "sums/q", False)
    assert [r.value for r in last.rewards] == [1.0]
    assert first.rewards == []
    [said] = [note.message for note in last.report if note.code == "retried"]
    assert said.startswith("attempts that failed before this one: 2, of which the log keeps the work of 1; the last")
    assert said.endswith("failed with: out of memory")
    assert outline(first) == ["-1 user 2 + 2?", "0 assistant 5"]
    assert [note.message for note in first.report] == ["the sample ended in an error: out of memory"]


def test_log_probs_are_those_of_the_turn() -> None:
    tokens = [{"token": "4", "logprob": -0.5, "top_logprobs": None}, {"token": ".", "logprob": -1}]
    event = model(None, [ASK], SUM)
    event["output"]["choices"][0]["logprobs"] = {"content": tokens}
    got = read_one(log(sample(ASK, SUM, events=[event])))
    assert got.turns == [TurnTokens(0, logprobs=[-0.5, -1.0])]
    assert [span.tokens for span in got.spans] == [None, SpanTokens(logprobs=[-0.5, -1.0])]


@pytest.mark.parametrize(
    "logprobs",
    [None, {}, {"content": None}, {"content": []}, {"content": [{"logprob": -1}, {"token": "x"}]}, {"content": [1]}],
)
def test_log_probs_that_are_not_whole_are_left_out(logprobs: Any) -> None:
    event = model(None, [ASK], SUM)
    event["output"]["choices"][0]["logprobs"] = logprobs
    got = read_one(log(sample(ASK, SUM, events=[event])))
    assert got.turns == []
    assert [span.tokens for span in got.spans] == [None, None]


def test_an_archive_may_hold_a_nul() -> None:
    [got] = read_bytes(eval_file(sample(ASK, message("assistant", "a\0b", "m2"))), "log.eval")
    assert isinstance(got, Trajectory)
    assert got.spans[-1].text == "a\u2400b"
    assert "sanitised" in codes(got)
