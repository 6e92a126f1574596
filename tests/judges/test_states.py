"""What is said of the state and of the whole run, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from trajcredit.judges.states import final_scores, running_totals

NAN = np.nan


@pytest.mark.parametrize(
    ("scores", "acts", "offsets", "wanted"),
    [
        pytest.param([0.2, 0.9, NAN], [1, 1, 1], [0, 3], [0.9], id="no opinion of the last action: the one before"),
        pytest.param([0.2, 0.9], [1, 0], [0, 2], [0.2], id="observations have none"),
        pytest.param([NAN, 0.1], [1, 1], [0, 1, 1, 2], [NAN, NAN, 0.1], id="no score, no span, one"),
        pytest.param([], [], [0], [], id="no trajectory"),
    ],
)
def test_final_scores_by_hand(scores, acts, offsets, wanted):
    got = final_scores(np.array(scores, dtype=float), np.array(acts, dtype=bool), np.array(offsets))
    np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize(
    ("credit", "offsets", "wanted"),
    [
        pytest.param([0.5, -0.25, 1], [0, 3], [0.5, 0.25, 1.25], id="added up"),
        pytest.param([0.5, NAN, 1], [0, 3], [0.5, NAN, 1.5], id="no opinion adds nothing"),
        pytest.param([0.5, 1], [0, 1, 1, 2], [0.5, 1], id="each run anew, an empty one among them"),
    ],
)
def test_running_totals_by_hand(credit, offsets, wanted):
    np.testing.assert_array_equal(running_totals(np.array(credit), np.array(offsets)), wanted)
