"""What a reader may look at beside its log, and what it may not."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from trajcredit.errors import ParseError
from trajcredit.formats.document import Document
from trajcredit.formats.siblings import LARGEST, Siblings
from trajcredit.formats.sources import Source, expand


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    """A secret outside, a folder that is given, a log and a result in it."""
    for name in ("secret.json", "given/result.json", "given/run/log.json", "given/run/.hidden.json"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    (tmp_path / "given" / "run" / "link.json").symlink_to(tmp_path / "secret.json")
    (tmp_path / "given" / "run" / "loop").symlink_to("loop")
    return tmp_path


def of(path: Path, log: str) -> Siblings:
    """What the reader of one of the files gets when this path is given."""
    [siblings] = [s.siblings for s in expand([path]) if isinstance(s, Source) and s.siblings and s.name.endswith(log)]
    return siblings


@pytest.mark.parametrize(
    ("name", "content"),
    [
        pytest.param("../result.json", b"given/result.json", id="above the log, in what was given"),
        pytest.param("./log.json", b"given/run/log.json", id="beside it"),
        pytest.param("../../secret.json", None, id="above what was given"),
        pytest.param("link.json", None, id="a link that leads out"),
        pytest.param("loop", None, id="a link to itself"),
        pytest.param("/etc/hostname", None, id="an absolute path"),
        pytest.param("nothing.json", None, id="no such file"),
        pytest.param("..", None, id="a folder"),
        pytest.param("a\0b", None, id="no name at all"),
        pytest.param("x" * 5000, None, id="a name too long"),
    ],
)
def test_files_inside_what_was_given_and_no_others(logs: Path, name: str, content: bytes | None) -> None:
    assert of(logs / "given", "log.json").read(name) == content


def test_a_log_given_by_itself_has_its_own_folder(logs: Path) -> None:
    siblings = of(logs / "given" / "run" / "log.json", "log.json")
    assert siblings.read("../result.json") is None
    assert siblings.names() == ["link.json", "log.json", "loop"]
    assert (siblings.names(".."), siblings.names("nowhere")) == ([], [])


def test_standard_input_has_none() -> None:
    [source] = expand(["-"])
    assert isinstance(source, Source)
    assert source.siblings is None
    assert Document("stdin", b"{}").beside("result.json") is None


def test_a_document_beside_is_decoded_and_named_from_the_log(logs: Path) -> None:
    (logs / "given" / "packed.json.gz").write_bytes(gzip.compress(b'{"a": 1}'))
    document = Document("run/log.json", b"{}", siblings=of(logs / "given", "log.json"))
    found = document.beside("nothing.json", "../packed.json.gz")
    assert found is not None
    assert (found.name, found.data) == ("packed.json.gz", b'{"a": 1}')


def test_a_file_that_is_too_large_is_said(logs: Path) -> None:
    with (logs / "given" / "huge.json").open("wb") as file:
        file.truncate(LARGEST + 1)
    with pytest.raises(ParseError, match="more than 256 MiB"):
        of(logs / "given", "log.json").read("../huge.json")
