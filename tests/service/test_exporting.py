"""The rows of a stored run are those of the stateless score of the same log, byte for byte but for the run's id."""

from __future__ import annotations

import io
from itertools import count
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from tests import laws
from tests.build import run as build_run
from tests.service.uploads import PROJECT, log, rollout, scored, send
from trajcredit.errors import InputError, NotFoundError, UnknownNameError
from trajcredit.formats import read_bytes
from trajcredit.model import Reward, SpawnedBy, Trajectory, encode
from trajcredit.service import crediting, exporting, plugins, rewarding, stateless
from trajcredit.service.asking import of_spec
from trajcredit.service.demo import bundled
from trajcredit.service.exporting import export, export_file
from trajcredit.service.ingesting import Log, ingest, ingest_paths
from trajcredit.service.runner import see_through
from trajcredit.service.running import Wanted, ask_for
from trajcredit.store import Store, open_store, trajectories
from trajcredit.store.checking import check

_number = count()
DATA = Path(__file__).parent.parent / "data"
LOGS = [
    *(bundled(f"{name}.jsonl") for name in ("wrong_flight", "maths_answer", "scores_0101")),
    *sorted(path for path in DATA.glob("*.json*") if path.name != "trajcredit.jsonl"),  # that names another project
]
SPECS = ["grpo", "dag", "dag:gamma=0.9,off_path=0.1", "moving_average", "rloo", "rtg"]


def stateless_rows(
    paths: list[str], spec: str, to: str = "jsonl", reward: str | None = None, group_by: str | None = None
) -> bytes:
    batch = stateless.batch(stateless.read(paths), reward, group_by)
    out = io.BytesIO()
    plugins.exporter_of(to)(stateless.score(batch, plugins.choose([spec])), out)
    return out.getvalue()


def exported(store: Store, run: str, to: str = "jsonl") -> bytes:
    """The rows, without the only thing that no stateless row has."""
    out = io.BytesIO()
    n = export(store, PROJECT, run, plugins.exporter_of(to), out).rows
    if to == "jsonl":
        assert n == len(out.getvalue().splitlines())
    return out.getvalue().replace(f'"run_id":"{run}"'.encode(), b'"run_id":null')


@pytest.mark.parametrize("file", LOGS, ids=lambda path: path.name)
def test_the_rows_of_a_log_are_those_of_score(store: Store, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    items = list(ingest_paths(store, PROJECT, [str(file)]))
    if not any(item.status == "created" for item in items):
        pytest.skip("no trajectory in it")
    monkeypatch.setattr(exporting, "PIECE_TRAJECTORIES", 3)  # so that there are several
    for spec in SPECS[:2]:
        assert exported(store, scored(store, spec).id) == stateless_rows([str(file)], spec)


@pytest.mark.parametrize("spec", SPECS)
def test_so_are_those_of_several_files_and_of_every_attributor(store: Store, spec: str) -> None:
    paths = [str(path) for path in LOGS[:3]]
    list(ingest_paths(store, PROJECT, paths))
    assert exported(store, scored(store, spec).id) == stateless_rows(paths, spec)


@pytest.mark.parametrize("piece", [1, 7, 10_000])
def test_whatever_the_pieces_the_rows_are_the_same(store: Store, piece: int, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = [str(path) for path in LOGS[:3]]
    list(ingest_paths(store, PROJECT, paths))
    run = scored(store)
    monkeypatch.setattr(exporting, "PIECE_SPANS", piece)
    assert exported(store, run.id) == stateless_rows(paths, "grpo")


def test_a_parquet_file_holds_the_same_table(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    list(ingest_paths(store, PROJECT, [str(LOGS[0])]))
    run = scored(store, "dag")
    monkeypatch.setattr(exporting, "PIECE_SPANS", 15)
    assert export_file(store, PROJECT, run.id, plugins.exporter_of("parquet"), tmp_path / "a.parquet").rows == 40
    (tmp_path / "b.parquet").write_bytes(stateless_rows([str(LOGS[0])], "dag", "parquet"))
    ours, theirs = (pyarrow.parquet.read_table(tmp_path / f"{name}.parquet") for name in "ab")
    assert ours.schema == theirs.schema
    assert set(ours["run_id"].to_pylist()) == {run.id}
    assert ours.drop(["run_id"]).equals(theirs.drop(["run_id"]))


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(some=st.lists(laws.any_trajectory(), min_size=1, max_size=5))
def test_whatever_is_in_a_log_the_rows_are_those_of_score(store: Store, some: list[Trajectory]) -> None:
    project = f"p{next(_number)}"
    rows = [replace(one, id=f"t{n}", project="default", parent=None) for n, one in enumerate(some)]
    sent = b"".join(encode(row) + b"\n" for row in rows)
    assert ingest(store, project, [Log(sent, "log.jsonl", "trajcredit")]).created == len(rows)
    run = ask_for(store, project, of_spec("dag"), Wanted())
    ended = see_through(store, project, run.id, lambda done, total: None)
    read = stateless.gather(read_bytes(sent, "log.jsonl", "trajcredit"), project)
    expected, found = io.BytesIO(), io.BytesIO()
    expected_end: tuple[str, str | None] = ("done", None)
    try:
        plugins.exporter_of("jsonl")(stateless.score(stateless.batch(read), plugins.choose(["dag"])), expected)
    except InputError as error:
        expected_end = ("failed", str(error))
    assert (ended.state, ended.error) == expected_end
    if ended.state == "failed":
        return
    assert export(store, project, run.id, plugins.exporter_of("jsonl"), found).rows == sum(
        len(row.spans) for row in rows
    )
    assert found.getvalue().replace(f'"run_id":"{run.id}"'.encode(), b'"run_id":null') == expected.getvalue()


def test_group_and_reward_are_those_that_the_run_was_asked_for(store: Store, tmp_path: Path) -> None:
    rows = [
        rollout(f"t{n}", n / 4, task_id=f"k{n % 2}", group=f"g{n}", reward_source=source)
        for n, source in enumerate(["human", "verifier", "human", "human"])
    ]
    file = tmp_path / "log.jsonl"
    file.write_bytes(log(*rows).data)
    list(ingest_paths(store, PROJECT, [str(file)]))
    run = scored(store, "grpo", Wanted(reward="human", group_by="task"))
    assert exported(store, run.id) == stateless_rows([str(file)], "grpo", reward="human", group_by="task")
    assert exported(store, scored(store).id) == stateless_rows([str(file)], "grpo")


def test_a_run_of_rewards_of_one_name_has_the_rows_of_score(store: Store, tmp_path: Path, monkeypatch: Any) -> None:
    """Also where a piece of it has no such reward, or has them from another source than the run reads."""
    lines = []
    for n, (own, others) in enumerate(
        [
            (Reward(1.0, "human", name="tone"), [Reward(0.0), Reward(0.25, "verifier", name="aim")]),
            (Reward(0.5, "judge", name="tone"), [Reward(1.0)]),
            (None, [Reward(0.125, "human", name="aim")]),
            (Reward(0.25, "human", span=2, name="tone"), [Reward(0.75, "human", span=3)]),
        ]
    ):
        given = others if own is None else [*others, own]
        lines.append(encode(replace(build_run("ucraa", name=f"t{n}"), rewards=given)) + b"\n")
    file = tmp_path / "log.jsonl"
    file.write_bytes(b"".join(lines))
    list(ingest_paths(store, PROJECT, [str(file)]))
    monkeypatch.setattr(exporting, "PIECE_TRAJECTORIES", 1)
    for spec in ("grpo", "dag", "rloo"):
        run = scored(store, spec, Wanted(reward="tone"))
        rows = exported(store, run.id)
        assert rows == stateless_rows([str(file)], spec, reward="tone")
        assert rows != stateless_rows([str(file)], spec, reward="human")
        assert (run.reward_source, run.reward_name) == ("human", "tone")
    found = crediting.credits(store, PROJECT, "ext:t1", run.id)
    assert found.headline.startswith("not scored: it has no reward from the human of 'tone'")
    rewarding.late(store, PROJECT, b'{"trajectory": "t1", "value": 1, "source": "human", "name": "aim"}')
    assert crediting.credits(store, PROJECT, "ext:t1", run.id).headline == found.headline, "it would not read that one"
    rewarding.late(store, PROJECT, b'{"trajectory": "t1", "value": 1, "source": "human", "name": "tone"}')
    assert "a new run would score it" in crediting.credits(store, PROJECT, "ext:t1", run.id).headline
    assert exported(store, run.id) == rows, "what came later is not in it"
    assert sum(term.value for term in crediting.why(store, PROJECT, "ext:t0", run.id, 1).terms) == pytest.approx(
        crediting.credits(store, PROJECT, "ext:t0", run.id).credit[1]
    )


def test_what_a_sub_agent_shares_is_settled_before_rewards_are_picked_by_name(store: Store, tmp_path: Path) -> None:
    """One with a verdict of its own by another name shares none: by the name it is unscored, in run and rows alike."""
    boss = replace(build_run("ua", name="boss"), rewards=[Reward(1.0, "human", name="tone")])
    own = replace(build_run("ua", name="own"), rewards=[Reward(0.25, "human", name="aim")], parent=SpawnedBy("boss"))
    none = replace(build_run("ua", name="none"), parent=SpawnedBy("boss"))
    file = tmp_path / "log.jsonl"
    file.write_bytes(b"".join(encode(one) + b"\n" for one in (boss, own, none)))
    list(ingest_paths(store, PROJECT, [str(file)]))
    run = scored(store, "rtg", Wanted(reward="tone"))
    assert exported(store, run.id) == stateless_rows([str(file)], "rtg", reward="tone")
    shown = {
        name: crediting.credits(store, PROJECT, f"ext:{name}", run.id).credit[1] for name in ("boss", "own", "none")
    }
    assert shown == {"boss": 1.0, "own": None, "none": 1.0}


def test_names_of_groups_stay_those_of_the_whole_run(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name that is not unique in the run is spelled out, also in a piece where it would be."""
    rows = [rollout(f"t{n}", n % 2, group="g", step=n // 2) for n in range(6)]
    file = tmp_path / "log.jsonl"
    file.write_bytes(log(*rows).data)
    list(ingest_paths(store, PROJECT, [str(file)]))
    run = scored(store)
    monkeypatch.setattr(exporting, "PIECE_TRAJECTORIES", 1)
    found = exported(store, run.id)
    assert found == stateless_rows([str(file)], "grpo")
    assert found.count(b'"group_id":"default/g/1"') == 8


def test_the_rows_hold_the_rewards_that_the_run_saw(store: Store) -> None:
    send(store, rollout("a", 1.0), rollout("b", 0.0), rollout("c", None))
    run = scored(store)
    before = exported(store, run.id)
    rewarding.late(store, PROJECT, b'{"trajectory": "ext:c", "value": 1}\n{"trajectory": "ext:a", "value": 0}')
    assert exported(store, run.id) == before
    again = exported(store, scored(store).id)
    assert again != before
    assert again.count(b'"outcome":null') == 0


def test_only_what_the_run_scored_is_in_it(store: Store) -> None:
    send(store, rollout("a", group="g"), rollout("b", 0.0, group="g"))
    run = scored(store)
    send(store, rollout("later", group="g"))
    assert exported(store, run.id).count(b"\n") == 8
    with store.write() as conn:
        trajectories.delete(conn, PROJECT, "ext:a")
    rows = exported(store, run.id)
    assert rows.count(b"\n") == 4
    assert b'"credit":-0.5' in rows, "what it said of the others stays"


def test_a_run_without_trajectories_left_is_an_empty_file(store: Store, tmp_path: Path) -> None:
    send(store, rollout("a"))
    run = scored(store)
    with store.write() as conn:
        trajectories.delete(conn, PROJECT, "ext:a")
    assert exported(store, run.id) == b""
    assert export_file(store, PROJECT, run.id, plugins.exporter_of("parquet"), tmp_path / "none.parquet").rows == 0
    assert pyarrow.parquet.read_table(tmp_path / "none.parquet").num_rows == 0


def test_the_newest_finished_run_goes_by_its_attributor_too(store: Store) -> None:
    send(store, rollout("a"), rollout("b", 0.0))
    scored(store, "rtg:gamma=0.5")
    newest = scored(store, "rtg")
    out = io.BytesIO()
    export(store, PROJECT, "rtg", plugins.exporter_of("jsonl"), out)
    assert newest.id.encode() in out.getvalue()


class Slow(io.BytesIO):
    """Deletes a trajectory, and writes another, while it takes the first rows."""

    def __init__(self, store: Store) -> None:
        super().__init__()
        self.store = store

    def write(self, data: object) -> int:
        if not self.tell():
            with self.store.write() as conn:
                trajectories.delete(conn, PROJECT, "ext:t5")
        return super().write(data)  # type: ignore[arg-type]  # bytes


def test_a_slow_reader_holds_up_nobody_and_what_went_meanwhile_is_told(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    send(store, *(rollout(f"t{n}", n) for n in range(6)))
    run = scored(store)
    monkeypatch.setattr(exporting, "PIECE_TRAJECTORIES", 2)
    with pytest.raises(InputError, match="a trajectory was deleted or replaced during the export: export again"):
        export(store, PROJECT, run.id, plugins.exporter_of("jsonl"), Slow(store))
    with store.read() as conn:
        assert check(conn).problems == ()


def test_a_run_that_is_not_done_has_no_rows(store: Store) -> None:
    send(store, rollout("a"))
    run = ask_for(store, PROJECT, of_spec("grpo"), Wanted())
    with pytest.raises(InputError, match=f"run '{run.id}' is queued: its rows are there once it is done"):
        exported(store, run.id)
    with pytest.raises(NotFoundError, match="no run 'dag' in project 'default'"):
        exported(store, "dag")


def test_another_project_sees_nothing_of_it(store: Store) -> None:
    send(store, rollout("a"))
    run = scored(store)
    with pytest.raises(NotFoundError):
        export(store, "other", run.id, plugins.exporter_of("jsonl"), io.BytesIO())


def test_an_unknown_kind_of_file_is_named(store: Store) -> None:
    with pytest.raises(UnknownNameError, match=r"no exporter named 'csv'; known: .*jsonl, .*parquet"):
        export(store, PROJECT, "any", plugins.exporter_of("csv"), io.BytesIO())


def test_the_database_is_not_written_over(sqlite_url: str) -> None:
    path = Path(sqlite_url.removeprefix("sqlite:///"))
    with open_store(sqlite_url) as store:
        send(store, rollout("a"))
        run = scored(store)
        for name in (path, path.with_name(path.name + "-wal")):
            with pytest.raises(InputError, match="it is the database"):
                export_file(store, PROJECT, run.id, plugins.exporter_of("jsonl"), name)
        with store.read() as conn:
            assert check(conn).problems == ()


def test_a_file_appears_whole_or_not_at_all(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    send(store, *(rollout(f"t{n}", n) for n in range(6)))
    run = scored(store)

    def broken(*_: object, **__: object) -> object:
        raise InputError("no more")

    monkeypatch.setattr(exporting, "assemble", broken)
    with pytest.raises(InputError, match="no more"):
        export_file(store, PROJECT, run.id, plugins.exporter_of("jsonl"), tmp_path / "rows.jsonl")
    assert list(tmp_path.glob("*rows*")) == []
