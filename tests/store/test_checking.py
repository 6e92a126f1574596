"""`db check` finds nothing in a sound database, and names whatever somebody changed behind our back."""

from __future__ import annotations

import pytest
from sqlalchemy import text

from tests.build import run
from tests.store.scored import scored
from tests.store.shelf import put
from trajcredit.store import Store
from trajcredit.store.checking import Checked, check


@pytest.fixture
def filled(store: Store) -> Store:
    """Two trajectories with a log, rewards and credits."""
    put(store, run("ucra", 1.0, name="a"), run("uccrra", 0.0, name="b"), raw=b"log")
    scored(store)
    return store


def test_a_sound_database_has_no_problems(filled: Store) -> None:
    with filled.read() as conn:
        assert check(conn) == Checked(logs=1, trajectories=2, credits=2, problems=())


def test_so_has_an_empty_one(store: Store) -> None:
    with store.read() as conn:
        assert check(conn) == Checked(0, 0, 0, ())


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        pytest.param("DELETE FROM spans WHERE trajectory = 1 AND span = 2", "3 rows in spans, not 4", id="a span row"),
        pytest.param("DELETE FROM edges WHERE trajectory = 2", "0 rows in edges", id="edge rows"),
        pytest.param(
            "INSERT INTO edges SELECT 77, child, parent, kind, weight, rule FROM edges WHERE trajectory = 1",
            "rows of trajectory 77, which is not there",
            id="rows of nobody",
        ),
        pytest.param("DELETE FROM packed WHERE trajectory = 1", "no row in packed", id="a packed row"),
        pytest.param("DELETE FROM documents WHERE trajectory = 2", "no row in documents", id="a document"),
        pytest.param("UPDATE trajectories SET outcome = 0.5", "outcome 0.5, and its rewards say 1.0", id="an outcome"),
        pytest.param("UPDATE trajectories SET n_spans = 9 WHERE key = 1", "cannot be read", id="a number of spans"),
        pytest.param("UPDATE trajectories SET content_sha256 = 'x'", "its document has another hash", id="a hash"),
        pytest.param("UPDATE packed SET columns = evidence WHERE trajectory = 1", "cannot be read", id="a block"),
        pytest.param("UPDATE packed SET evidence = columns WHERE trajectory = 2", "cannot be read", id="evidence"),
        pytest.param("UPDATE packed SET tools = '{'", "cannot be read", id="tools"),
        pytest.param("UPDATE documents SET line = (SELECT data FROM logs)", "cannot be read", id="a document's bytes"),
        pytest.param("UPDATE credits SET credit = advantage WHERE 1 = 0", None, id="nothing"),
        pytest.param(
            "UPDATE credits SET credit = (SELECT data FROM logs) WHERE trajectory = 1", "not as long", id="credit"
        ),
        pytest.param("UPDATE logs SET data = (SELECT max(line) FROM documents)", "another hash", id="a log"),
        pytest.param("UPDATE logs SET data = (SELECT max(evidence) FROM packed)", "another hash", id="no zstd at all"),
    ],
)
def test_what_somebody_changed_is_named(filled: Store, damage: str, said: str | None) -> None:
    with filled.write() as conn:
        conn.execute(text(damage))
    with filled.read() as conn:
        problems = check(conn).problems
    assert any(said in problem for problem in problems) if said is not None else problems == ()


def test_one_that_cannot_be_read_does_not_hide_the_others(filled: Store) -> None:
    with filled.write() as conn:
        conn.execute(text("UPDATE packed SET columns = evidence WHERE trajectory = 1"))
        conn.execute(text("UPDATE trajectories SET content_sha256 = 'x' WHERE key = 2"))
    with filled.read() as conn:
        unreadable, changed = check(conn).problems
    assert "cannot be read" in unreadable
    assert "another hash" in changed
