"""Answers kept for a client that asks again."""

from __future__ import annotations

import pytest

from tests.store.shelf import PROJECT
from trajcredit.errors import InputError
from trajcredit.store import Store, idempotency


def test_an_answer_is_kept_for_its_project_and_key(store: Store) -> None:
    with store.write() as conn:
        idempotency.remember(conn, PROJECT, "key", "0" * 64, b"\x00\xffanswer")
    with store.read() as conn:
        found = idempotency.recall(conn, PROJECT, "key")
        assert found is not None
        assert (found.request_sha256, found.response) == ("0" * 64, b"\x00\xffanswer")
        assert idempotency.recall(conn, PROJECT, "other") is None
        assert idempotency.recall(conn, "other", "key") is None


def test_an_answer_goes_with_what_it_answered_for(store: Store) -> None:
    with pytest.raises(InputError), store.write() as conn:  # noqa: PT012  # what is written before it counts
        idempotency.remember(conn, PROJECT, "key", "0", b"")
        raise InputError("the upload is broken")
    with store.read() as conn:
        assert idempotency.recall(conn, PROJECT, "key") is None


@pytest.mark.parametrize("key", ["", "k" * 201])
def test_a_key_that_no_index_holds_is_refused(store: Store, key: str) -> None:
    with store.write() as conn, pytest.raises(InputError, match="1 to 200"):
        idempotency.remember(conn, PROJECT, key, "0", b"")
