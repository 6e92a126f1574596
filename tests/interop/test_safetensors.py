"""The real safetensors library: it opens our file, and finds every tensor."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.exporters.token_rows import token_row, two_turns
from tests.integrations.files import written
from trajcredit.exporters.safetensors import Safetensors

pytestmark = pytest.mark.interop


@pytest.mark.parametrize("logged", [pytest.param(True, id="with log-probs"), pytest.param(False, id="without")])
def test_the_library_reads_what_we_wrote(logged: bool, tmp_path: Path) -> None:
    pytest.importorskip("safetensors", reason="safetensors is not installed")
    from safetensors import safe_open

    bare = token_row([9], [14, 15], [0, 1], [0.0, 0.1], trajectory="ü")
    path = written(Safetensors(), tmp_path, *([two_turns()] if logged else []), bare)
    with safe_open(path, framework="numpy") as file:
        names = {"prompt_offsets", "prompt_ids", "response_offsets", "response_ids", "response_mask", "advantages"}
        assert set(file.keys()) == names | ({"logprobs"} if logged else set())
        assert file.metadata()["trajectory_ids"] == ('["t","\\u00fc"]' if logged else '["\\u00fc"]')
        start, end = file.get_tensor("response_offsets")[-2:]
        assert file.get_tensor("response_ids")[start:end].tolist() == [14, 15]
        assert file.get_tensor("advantages")[start:end].tolist() == [0.0, float(np.float32(0.1))]
        assert file.get_tensor("response_mask").dtype == np.uint8
        if logged:
            assert np.isnan(file.get_tensor("logprobs")[start:end]).all()
