"""Logs into the store: every record answered in its place, what is said to be created is there, nothing twice."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from threading import Barrier

import pytest

from tests.service.uploads import PROJECT, log, rollout, scored, send
from trajcredit.errors import InputError, UnknownNameError
from trajcredit.formats import Document, read
from trajcredit.formats.document import Match
from trajcredit.model import Trajectory, encode
from trajcredit.registry import formats
from trajcredit.service import ingesting
from trajcredit.service.demo import bundled
from trajcredit.service.ingesting import MADE_FROM_NAME, Item, ingest, ingest_paths, name_of
from trajcredit.service.running import find
from trajcredit.store import Store, documents, open_store, pages
from trajcredit.store.checking import check


def stored(store: Store, project: str = PROJECT) -> list[str]:
    """The clients' ids of what is there, in the order it came; and all of it is sound."""
    with store.read() as conn:
        assert check(conn).problems == ()
        page = pages.page(conn, project, sort="created", limit=500)
    return [one.external_id for one in page.trajectories]


def ends(items: Iterator[Item] | tuple[Item, ...] | list[Item]) -> list[tuple[str, str | None]]:
    return [(item.status, item.external_id) for item in items]


def test_every_record_is_answered_in_its_place(store: Store) -> None:
    answer = send(store, rollout("a"), "{broken", rollout("b", None), '{"id": "c"}', rollout("d"))
    assert [(item.status, item.external_id, item.line) for item in answer.items] == [
        ("created", "a", 1),
        ("rejected", None, 2),
        ("created", "b", 3),
        ("rejected", None, 4),
        ("created", "d", 5),
    ]
    assert all(item.reason and item.file == "log.jsonl" for item in answer.items if item.status == "rejected")
    assert (answer.created, answer.rejected, answer.duplicate) == (3, 2, 0)
    assert stored(store) == ["a", "b", "d"]


def test_what_is_stored_is_what_the_reader_gives(store: Store) -> None:
    flights = bundled("wrong_flight.jsonl")
    answer = ingest(store, PROJECT, [ingesting.Log(flights.read_bytes(), flights.name)])
    assert answer.created == 4
    for item, read_now in zip(answer.items, read(flights, strict=True), strict=True):
        assert isinstance(read_now, Trajectory)
        assert item.id is not None
        with store.read() as conn:
            assert documents.document(conn, PROJECT, item.id) == read_now


def test_several_logs_are_answered_in_their_order(store: Store) -> None:
    sent = [log(rollout("a"), name="one.jsonl"), log("no json", name="two"), log(rollout("b"), name="three.jsonl")]
    answer = ingest(store, PROJECT, sent)
    assert [(item.status, item.file) for item in answer.items] == [
        ("created", "one.jsonl"),
        ("rejected", "two"),
        ("created", "three.jsonl"),
    ]


def test_the_same_upload_again_changes_nothing_and_says_so(store: Store) -> None:
    first = send(store, rollout("a"), rollout("b"))
    again = send(store, rollout("a"), rollout("b"))
    assert (again.created, again.duplicate) == (0, 2)
    assert [item.id for item in again.items] == [item.id for item in first.items]
    assert stored(store) == ["a", "b"]


def test_the_same_id_with_other_content_is_a_conflict_and_the_rest_is_done(store: Store) -> None:
    [old] = send(store, rollout("a")).items
    answer = send(store, rollout("a", text="otherwise"), rollout("b"))
    assert ends(answer.items) == [("conflict", "a"), ("created", "b")]
    assert answer.items[0].id == old.id
    assert "its content differs" in (answer.items[0].reason or "")
    with store.read() as conn:
        assert documents.document(conn, PROJECT, "ext:a").spans[-1].text == "done: QK-9932"


def test_replace_puts_the_new_one_in_its_place_and_runs_over_the_old_one_are_stale(store: Store) -> None:
    [old] = send(store, rollout("a")).items
    run = scored(store)
    answer = send(store, rollout("a", text="otherwise"), replace=True)
    assert ends(answer.items) == [("replaced", "a")]
    assert answer.items[0].id != old.id
    assert find(store, PROJECT, run.id).stale_reason == "a trajectory was replaced"
    assert stored(store) == ["a"]


def test_a_log_of_another_project_is_refused_by_name(store: Store) -> None:
    flights = bundled("wrong_flight.jsonl").read_bytes()
    assert ingest(store, "flights", [ingesting.Log(flights, "a.jsonl")]).created == 4
    with store.read() as conn:
        mine = documents.document(conn, "flights", "ext:flight-1")
    assert mine.project == "flights"
    answer = ingest(store, "hotels", [ingesting.Log(encode(mine) + b"\n", "b.jsonl")])
    assert answer.rejected == 1
    assert answer.items[0].reason == "it names project 'flights' and was sent to 'hotels'"


def test_many_records_are_stored_a_chunk_at_a_time_and_answered_as_one(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ingesting, "CHUNK_TRAJECTORIES", 3)
    rows = [rollout(f"t{n}") if n % 5 else "{broken" for n in range(17)]
    answer = send(store, *rows, key="k")
    assert [item.status for item in answer.items] == ["created" if n % 5 else "rejected" for n in range(17)]
    assert stored(store) == [f"t{n}" for n in range(17) if n % 5]
    assert send(store, *rows, key="k") == answer


def test_what_one_upload_repeats_is_read_once(store: Store) -> None:
    answer = send(store, rollout("a"), rollout("a"), rollout("a", text="otherwise"))
    assert [item.status for item in answer.items] == ["created", "rejected", "created"]
    assert stored(store) == ["a", "a#2"]


def test_an_upload_has_so_many_records_and_no_more(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ingesting, "MOST_ITEMS", 4)
    answer = ingest(store, PROJECT, [log(*(rollout(f"t{n}") for n in range(6)))])
    assert [item.status for item in answer.items] == ["created"] * 4 + ["rejected"]
    assert answer.items[-1].reason == "the rest was not read: at most 4 records an upload"
    assert stored(store) == ["t0", "t1", "t2", "t3"]


def test_settings_say_which_tools_write(store: Store) -> None:
    send(store, rollout("a"), writes={"look": True})
    send(store, rollout("b"), writes={"look": False})
    with store.read() as conn:
        graphs = documents.graphs(conn, PROJECT, ["ext:a", "ext:b"])
    assert [bool(graph.is_write[1]) for graph in graphs] == [True, False]
    assert graphs[0].write_basis[1] == "settings"


@dataclass(frozen=True)
class Faulty:
    """Breaks at the second record."""

    def sniff(self, document: Document) -> Match:
        return Match.NO

    def read(self, document: Document) -> Iterator[Trajectory]:
        first = read(bundled("wrong_flight.jsonl"), strict=True)
        found = next(first)
        assert isinstance(found, Trajectory)
        yield found
        raise ZeroDivisionError("secret text of the log")


def test_a_reader_that_breaks_is_a_record_that_cannot_be_read(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(formats, "_plugins", {**formats.items(), "faulty": Faulty})
    answer = ingest(store, PROJECT, [log("{}", format="faulty"), log(rollout("after"))])
    assert ends(answer.items) == [("created", "flight-1"), ("rejected", None), ("created", "after")]
    assert answer.items[1].reason == "its reader failed: ZeroDivisionError"


def test_an_unknown_format_is_the_callers_mistake(store: Store) -> None:
    with pytest.raises(UnknownNameError, match="no format named 'chatml'"):
        ingest(store, PROJECT, [log(rollout("a"), format="chatml")])


# ---------------------------------------------------------------- Idempotency-Key


def test_the_answer_of_a_key_is_given_again_even_where_things_have_changed_since(store: Store) -> None:
    first = send(store, rollout("a"), "{broken", key="k1")
    send(store, rollout("a", text="otherwise"), replace=True)
    assert send(store, rollout("a"), "{broken", key="k1") == first
    assert ends(send(store, rollout("a"), "{broken", key="k2").items) == [("conflict", "a"), ("rejected", None)]


def test_a_key_is_of_one_request_only(store: Store) -> None:
    send(store, rollout("a"), key="k")
    with pytest.raises(InputError, match="Idempotency-Key 'k' was used for another request"):
        send(store, rollout("b"), key="k")
    with pytest.raises(InputError, match="another request"):
        send(store, rollout("a"), key="k", replace=True)
    assert ingest(store, "other", [log(rollout("b"))], key="k").created == 1
    assert stored(store) == ["a"]


@pytest.mark.parametrize("key", ["", "x" * 201])
def test_a_key_has_a_length(store: Store, key: str) -> None:
    with pytest.raises(InputError, match="1 to 200 characters"):
        send(store, rollout("a"), key=key)
    assert stored(store) == []


def test_the_same_key_sent_at_once_gets_one_answer(store: Store) -> None:
    together = Barrier(4)

    def upload(n: int) -> object:
        together.wait(timeout=60)
        return send(store, rollout("a"), rollout("b"), key="k")

    with ThreadPoolExecutor(4) as pool:
        first, *others = pool.map(upload, range(4))
    assert others == [first] * 3
    assert stored(store) == ["a", "b"]


# ---------------------------------------------------------------- files


def test_files_are_kept_one_after_the_other_and_named_as_they_were_given(store: Store, tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    (folder / "a.jsonl.gz").write_bytes(gzip.compress(log(rollout("a"), "{broken").data))
    (folder / "b.jsonl").write_bytes(log(rollout("b")).data)
    (folder / "notes.txt").write_text("remember the milk")
    (folder / "more.txt").write_text("remember the milk")
    items = list(ingest_paths(store, PROJECT, [str(folder), str(tmp_path / "gone.json")]))
    assert [(item.status, Path(item.file or "").name, item.line) for item in items] == [
        ("created", "a.jsonl.gz", 1),
        ("rejected", "a.jsonl.gz", 2),
        ("created", "b.jsonl", None),
        ("skipped", "more.txt", None),
        ("skipped", "notes.txt", None),
        ("rejected", "gone.json", None),
    ]
    assert stored(store) == ["a", "b"]


def test_ids_of_files_are_those_that_read_gives(store: Store, tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "run.json").write_text(json.dumps(rollout("", text=name)["messages"]))
    paths = [str(tmp_path)]
    expected = [t.id for t in read(paths, strict=True) if isinstance(t, Trajectory)]
    assert [item.external_id for item in ingest_paths(store, PROJECT, paths)] == expected
    with store.read() as conn:
        kept = [documents.document(conn, PROJECT, f"ext:{name}") for name in expected]
    assert kept == list(read(paths, strict=True))


def test_the_same_bytes_in_two_files_are_read_once_and_one_id_in_two_is_a_conflict(
    store: Store, tmp_path: Path
) -> None:
    for name, text in (("a", "done"), ("b", "done"), ("c", "otherwise")):
        (tmp_path / f"{name}.jsonl").write_bytes(log(rollout("x", text=text)).data)
    items = list(ingest_paths(store, PROJECT, [str(tmp_path)]))
    assert [item.status for item in items] == ["created", "rejected", "conflict"]
    assert "holds the same bytes as" in (items[1].reason or "")


def test_the_same_log_under_another_name_is_there_already_though_it_gives_no_ids(store: Store, tmp_path: Path) -> None:
    rows = [{key: value for key, value in rollout("", n).items() if key != "id"} for n in (0.0, 1.0)]
    first = ingest(store, PROJECT, [log(*rows, name="first.jsonl")])
    assert ends(first.items) == [("created", "first.jsonl#1"), ("created", "first.jsonl#2")]
    again = ingest(store, PROJECT, [log(*rows, name="second.jsonl")])
    assert ends(again.items) == [("duplicate", "first.jsonl#1"), ("duplicate", "first.jsonl#2")]
    (tmp_path / "third.jsonl").write_bytes(log(*rows).data)
    assert ends(list(ingest_paths(store, PROJECT, [str(tmp_path)]))) == ends(again.items)


def test_ids_that_were_made_from_a_name_say_so_where_they_conflict(store: Store) -> None:
    nameless = {key: value for key, value in rollout("").items() if key != "id"}
    ingest(store, PROJECT, [log(nameless, nameless, name="runs.jsonl")])
    [item, _] = ingest(store, PROJECT, [log(nameless | {"reward": 0.5}, nameless, name="runs.jsonl")]).items
    assert item.status == "conflict"
    assert MADE_FROM_NAME in (item.reason or "")


def test_a_file_may_have_more_records_than_an_upload(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ingesting, "MOST_ITEMS", 4)
    monkeypatch.setattr(ingesting, "CHUNK_TRAJECTORIES", 3)
    (tmp_path / "log.jsonl").write_bytes(log(*(rollout(f"t{n}") if n != 4 else "{" for n in range(10))).data)
    items = list(ingest_paths(store, PROJECT, [str(tmp_path / "log.jsonl")]))
    assert [item.line for item in items] == list(range(1, 11))
    assert [item.status for item in items].count("created") == 9


def test_answers_come_once_their_chunk_is_stored(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ingesting, "CHUNK_TRAJECTORIES", 2)
    (tmp_path / "log.jsonl").write_bytes(log(*(rollout(f"t{n}") for n in range(5))).data)
    items = ingest_paths(store, PROJECT, [str(tmp_path / "log.jsonl")])
    next(items)
    assert stored(store) == ["t0", "t1"]
    items.close()  # type: ignore[attr-defined]  # a generator, and whoever reads it may go away
    assert stored(store) == ["t0", "t1"]


def test_a_database_in_the_folder_is_passed_over(sqlite_url: str, tmp_path: Path) -> None:
    (tmp_path / "log.jsonl").write_bytes(log(rollout("a")).data)
    with open_store(sqlite_url) as store:
        assert [item.status for item in ingest_paths(store, PROJECT, [str(tmp_path)])] == ["created"]


@pytest.mark.parametrize(
    ("label", "name"),
    [
        pytest.param("runs.jsonl", "runs.jsonl", id="as it is"),
        pytest.param("../../etc/passwd", "passwd", id="a path is cut to its end"),
        pytest.param("C:\\logs\\a.json", "a.json", id="also that of Windows"),
        pytest.param("logs/", "logs", id="a folder"),
        pytest.param("x" * 300, "x" * 200, id="not longer than this"),
        pytest.param("  ", "upload-ba7816bf8f01", id="none: after its content"),
        pytest.param(None, "upload-ba7816bf8f01", id="nothing said"),
    ],
)
def test_a_label_of_the_client_is_no_path(label: str | None, name: str) -> None:
    assert name_of(label, b"abc") == name
