"""A process that is killed while it asks has paid for nothing that the next one pays for again."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

from tests.judges.scripted import Asked, fair, served

JUDGING = """
import sys
from pathlib import Path
from trajcredit.graph import build_graphs
from trajcredit.judges import Case, Means, segmented
from trajcredit.judges.answers import FileAnswers
from trajcredit.judges.llm import Llm
from trajcredit.judges.models import Model
from trajcredit.model import Span, Trajectory

spans = [[Span(kind="user", turn=-1, text="Go."), Span(kind="assistant", turn=0, text=f"Gone {n}.")] for n in range(6)]
graphs = build_graphs([Trajectory(id=f"r{n}", spans=some) for n, some in enumerate(spans)])
model = Model("m", sys.argv[1], "scripted", concurrency=1, allow=("127.0.0.1",))
with FileAnswers(Path(sys.argv[2])) as answers:
    means = Means(answers=answers, models={"m": model})
    verdicts = list(Llm()([Case(graph, segmented(graph, "action")) for graph in graphs], means))
print(means.spent.requests, means.spent.cached, sum(one.missing is None for one in verdicts))
"""


def test_what_was_answered_before_a_kill_is_not_asked_again(tmp_path: Path) -> None:
    """Killed while the fourth of six answers is on its way."""
    fourth, over = threading.Event(), threading.Event()

    def script(asked: Asked, number: int) -> tuple[int, Any]:
        if number == 3:
            fourth.set()
            over.wait(60)
        return fair(asked, number)

    with served(script) as server:
        command = [sys.executable, "-c", JUDGING, server.model().base_url, str(tmp_path / "answers.jsonl")]
        with subprocess.Popen(command) as first:
            assert fourth.wait(60)
            first.kill()
        over.set()
        second = subprocess.run(command, capture_output=True, text=True, check=True)
    assert second.stdout.split() == ["3", "3", "6"]
    told = [str(asked.data) for asked in server.asked]
    assert len(told) == 4 + 3
    assert len(set(told)) == 6
