"""T11: which addresses a judge may ask. Nothing is sent to any other."""

from __future__ import annotations

import json
import socket
import threading
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest

from tests.judges.scripted import completion, served
from trajcredit.errors import InputError, JudgeError
from trajcredit.judges.addresses import ForbiddenError, allowed_host, forbidden, resolved
from trajcredit.judges.llm_client import AwayError, post
from trajcredit.judges.models import Model, Weights, load

PRIVATE = [
    "127.0.0.1",
    "127.1",
    "0.0.0.0",
    "0",
    "2130706433",
    "0x7f000001",
    "0x7f.1",
    "0177.0.0.1",
    "017700000001",
    "localhost",
    "10.0.0.1",
    "172.16.0.1",
    "192.168.1.1",
    "169.254.169.254",
    "168.63.129.16",
    "100.64.0.1",
    "100.100.100.200",
    "192.0.0.192",
    "192.0.2.1",
    "192.88.99.1",
    "198.18.0.1",
    "224.0.0.1",
    "255.255.255.255",
    "[::1]",
    "[::]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[::127.0.0.1]",
    "[64:ff9b::7f00:1]",
    "[64:ff9b::169.254.169.254]",
    "[64:ff9b:1:7f00:0:100:808:808]",
    "[::ffff:0:127.0.0.1]",
    "[2002:7f00:1::]",
    "[2001:0:7f00:1::]",
    "[fe80::1]",
    "[fec0::1]",
    "[fc00::1]",
    "[fd00:ec2::254]",
    "[ff02::1]",
]


def _model(host: str, port: int = 443, **more: Any) -> Model:
    return Model(name="m", base_url=f"https://{host}:{port}/v1", model="x", timeout=2.0, **more)


@pytest.mark.parametrize("host", PRIVATE)
def test_t11_no_private_address_is_connected_to_however_it_is_written(host: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(0)
        with pytest.raises(JudgeError) as caught:
            post(_model(host, listener.getsockname()[1]), "/chat/completions", b"{}")
        with pytest.raises(BlockingIOError):
            listener.accept()
    assert isinstance(caught.value, ForbiddenError) or str(caught.value).startswith("no address of")  # none was tried


def test_t11_there_are_enough_of_them() -> None:
    assert len(PRIVATE) >= 30


@pytest.mark.parametrize("address", ["8.8.8.8", "1.1.1.1", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808"])
def test_public_addresses_may_be_asked(address: str) -> None:
    assert not forbidden(ip_address(address))


def test_t11_a_name_with_one_bad_address_is_not_used() -> None:
    def lookup(host: str, port: int, **_: Any) -> list[Any]:
        return [(socket.AF_INET, 1, 6, "", (one, port)) for one in ("8.8.8.8", "127.0.0.1")]

    with pytest.raises(ForbiddenError, match=r"two\.example is at a private address"):
        resolved("two.example", 443, (), lookup)
    assert resolved("two.example", 443, ("127.0.0.0/8",), lookup) == (socket.AF_INET, ("8.8.8.8", 443))


def test_t11_a_name_is_looked_up_once_and_the_address_found_is_the_one_connected_to() -> None:
    asked = []
    with served(lambda asked, number: (200, completion("x"))) as good, served(lambda a, n: (200, b"{}")) as bad:

        def rebinding(host: str, port: int, **_: Any) -> list[Any]:
            asked.append(host)
            wanted = good.port if len(asked) == 1 else bad.port
            return [(socket.AF_INET, 1, 6, "", ("127.0.0.1", wanted))]

        model = Model(name="m", base_url=f"http://my.model:{good.port}/v1", model="x", allow=("my.model",))
        assert post(model, "/chat/completions", b"{}", rebinding).status == 200
    assert (asked, len(good.asked), len(bad.asked)) == (["my.model"], 1, 0)
    assert good.asked[0].headers["Host"] == f"my.model:{good.port}"


def test_t11_redirects_are_not_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MODEL_KEY", "sk-secret-123")
    with (
        served(lambda asked, number: (200, completion("x"))) as target,
        served(lambda asked, number: (307, b"", {"Location": f"http://127.0.0.1:{target.port}/v1"})) as first,
    ):
        assert post(first.model(api_key_env="MODEL_KEY"), "/chat/completions", b"{}").status == 307
        assert first.asked[0].headers["Authorization"] == "Bearer sk-secret-123"
        assert target.asked == []


def test_t11_proxies_of_the_environment_are_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    with served(lambda asked, number: (200, b"{}")) as proxy, served(lambda asked, number: (200, b"{}")) as there:
        for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY", "https_proxy"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")
        post(there.model(), "/chat/completions", b"{}")
        assert (len(proxy.asked), len(there.asked)) == (0, 1)


def test_t11_an_answer_is_bounded_in_bytes_and_in_time() -> None:
    with (
        served(lambda asked, number: (200, b"x" * ((1 << 20) + 1))) as large,
        pytest.raises(JudgeError, match="more than 1,048,576 bytes"),
    ):
        post(large.model(), "/chat/completions", b"{}")
    with socket.create_server(("127.0.0.1", 0)) as silent:
        model = Model("m", f"http://127.0.0.1:{silent.getsockname()[1]}", "x", timeout=0.1, allow=("127.0.0.1",))
        with pytest.raises(AwayError, match=r"took longer than 0\.1 s"):
            post(model, "/chat/completions", b"{}")


def test_t11_a_slow_lookup_takes_from_the_time_for_all(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([0.0, 31.0])
    monkeypatch.setattr("trajcredit.judges.llm_client.monotonic", lambda: next(clock))
    with served(lambda asked, number: (200, b"{}")) as there, pytest.raises(AwayError, match="took longer than 30 s"):
        post(there.model(), "/chat/completions", b"{}")
    assert there.asked == []


def test_t11_a_drip_of_bytes_ends_when_the_time_is_over() -> None:
    with socket.create_server(("127.0.0.1", 0)) as dripping:
        over = threading.Event()

        def drip() -> None:
            peer, _ = dripping.accept()
            with peer:
                peer.sendall(b"HTTP/1.1 200 OK\r\n")
                try:
                    while not over.wait(0.02):
                        peer.sendall(b"a")
                except OSError:
                    return

        thread = threading.Thread(target=drip, daemon=True)
        thread.start()
        model = Model("m", f"http://127.0.0.1:{dripping.getsockname()[1]}", "x", timeout=0.3, allow=("127.0.0.1",))
        with pytest.raises(AwayError, match=r"took longer than 0\.3 s"):
            post(model, "/chat/completions", b"{}")
        over.set()
        thread.join(5)
        assert not thread.is_alive()


def test_hosts_and_networks_are_allowed_by_name_and_by_number() -> None:
    assert allowed_host("GPU-Box.local", ("gpu-box.local",))
    assert allowed_host("10.1.2.3", ("10.0.0.0/8",))
    assert not allowed_host("10.1.2.3.evil.example", ("10.0.0.0/8", "10.1.2.3"))
    assert not allowed_host("box.local", ("gpu-box.local",))


GOOD = 'base_url = "https://models.example.com/v1/"\nmodel = "big"\n'


def _file(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "judges.toml"
    path.write_text(text)
    return path


def test_models_are_read_from_tables(tmp_path: Path) -> None:
    more = 'api_key_env = "K"\nprice_in = 1\nprice_out = 2.5\nconcurrency = 2\ntimeout = 9\nallow = ["Box"]\n'
    found = load(_file(tmp_path, f"[judges.fair]\n{GOOD}{more}[judges.plain]\n{GOOD}"))
    assert found["fair"] == Model(
        "fair", "https://models.example.com/v1", "big", "K", 1.0, 2.5, 2, timeout=9.0, allow=("box",)
    )
    fair, plain = found["fair"], found["plain"]
    assert isinstance(fair, Model)
    assert isinstance(plain, Model)
    assert plain.timeout == 30.0
    assert fair.cost(2_000_000, 1_000_000) == 4.5


def test_hosts_addresses_and_networks_may_be_allowed(tmp_path: Path) -> None:
    several = ["gpu-box", "a.b_c.example.", "10.1.2.3", "10.0.0.0/8", "fd00::/8", "[::1]", "1.example"]
    model = load(_file(tmp_path, f"[judges.x]\n{GOOD}allow = {json.dumps(several)}\n"))["x"]
    assert isinstance(model, Model)
    assert model.allow == tuple(several)


def test_a_table_with_a_path_is_a_local_model(tmp_path: Path) -> None:
    assert load(_file(tmp_path, f'[judges.here]\npath = "{tmp_path}"\n')) == {"here": Weights("here", str(tmp_path))}
    with pytest.raises(InputError, match="path: expected a folder that is there"):
        load(_file(tmp_path, '[judges.here]\npath = "/none/such"\n'))
    with pytest.raises(InputError, match="unknown key 'model'"):
        load(_file(tmp_path, f'[judges.here]\npath = "{tmp_path}"\nmodel = "x"\n'))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[judge.x]\n", "unknown key 'judge'"),
        ("[judges]\nx = 1\n", r"expected tables \[judges.NAME\]"),
        ("[judges.x\n", "judges.toml"),
        ('[judges.x]\nmodel = "m"\n', "base_url: expected text"),
        (f'[judges.x]\n{GOOD}api_key = "sk-1"\n', "no key stands in this file"),
        (f'[judges.x]\n{GOOD}api_key_env = "sk-1 2"\n', "name of an environment variable"),
        (f'[judges.x]\n{GOOD}name = "y"\n', "unknown key 'name'"),
        (f"[judges.x]\n{GOOD}timeout = 0\n", "timeout: expected a number"),
        (f"[judges.x]\n{GOOD}concurrency = 1.5\n", "concurrency: expected a whole number"),
        (f'[judges.x]\n{GOOD}allow = "all"\n', "allow: expected a list"),
        (f'[judges.x]\n{GOOD}allow = ["box", "*"]\n', r"allow: expected a host or a network .* found '\*'"),
        (f'[judges.x]\n{GOOD}allow = ["10.0.0.0/33"]\n', "allow: expected a host or a network"),
        (f'[judges.x]\n{GOOD}allow = ["10.0.0.1/8"]\n', "allow: expected a host or a network"),
        (f'[judges.x]\n{GOOD}allow = ["10.0.0"]\n', "allow: expected a host or a network"),
        (f'[judges.x]\n{GOOD}allow = ["http://box"]\n', "allow: expected a host or a network"),
    ],
)
def test_what_does_not_belong_in_the_file_is_named(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(InputError, match=said) as caught:
        load(_file(tmp_path, text))
    assert "sk-1" not in str(caught.value)


@pytest.mark.parametrize(
    "url",
    [
        "http://models.example.com/v1",
        "ftp://models.example.com",
        "file:///etc/passwd",
        "https://user:pass@models.example.com",
        "https://models.example.com/v1?x=1",
        "https://models.example.com/v1#x",
        "https://127.0.0.1\\\\@models.example.com",
        "https://mod%65ls.example.com",
        "https://m\u00f6del.example",
        "https://",
        "https://models.example.com:99999",
        "https://models.example.com /v1",
    ],
)
def test_t11_addresses_that_could_mean_another_host_are_refused(tmp_path: Path, url: str) -> None:
    with pytest.raises(InputError, match="base_url"):
        load(_file(tmp_path, f'[judges.x]\nmodel = "m"\nbase_url = "{url}"\n'))
