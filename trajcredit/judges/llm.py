"""A model judges segments from their text, over any OpenAI-compatible server that an operator has configured."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from hashlib import sha256
from typing import ClassVar

from trajcredit.errors import InputError, JudgeError, UnknownNameError
from trajcredit.judges.addresses import ForbiddenError
from trajcredit.judges.base import Basis, Case, Means, Scale, Verdict
from trajcredit.judges.llm_asking import Asker, StoppedError
from trajcredit.judges.llm_prompt import PROMPT_VERSION, questions
from trajcredit.judges.models import VARIABLE, Model
from trajcredit.judges.segments import KINDS
from trajcredit.registry import judges

__all__ = ["Llm"]

SCALES: tuple[Scale, ...] = ("credit", "state")


@judges.register("llm")
@dataclass(frozen=True, slots=True)
class Llm:
    """A language model reads the trajectory in windows and scores every segment, with a reason.

    It is told neither the outcome nor what siblings did. What it answers is believed only in the form asked for: known
    segments, each once, numbers in range. docs/judges_models.md has what is sent, what is refused and what it costs.
    """

    model: str | None = None
    """Name of a configured model; none = the only one there is."""
    asks: Scale = "credit"
    """`credit`: what each segment did, -1..1; `state`: the chance of success after it, 0..1."""
    segments: str = "action"
    """What is judged as one."""
    characters: int = 48_000
    """Of a window, 2000..1000000; longer trajectories take several requests."""
    temperature: float | None = 0.0
    """Null where the server refuses one."""
    repeat: int = 0
    """Which repetition this is: the same question asked again is another request."""
    max_requests: int | None = None
    """Most requests of one judging, retries too."""
    max_cost: float | None = None
    """Most that it may cost, in the unit of the model's prices; a request on the way is finished."""

    local: ClassVar[bool] = False
    asks_model: ClassVar[bool] = True
    needs_model: ClassVar[type] = Model

    def __post_init__(self) -> None:
        """InputError names a parameter out of range."""
        if self.asks not in SCALES:
            raise InputError(f"judge llm: asks must be credit or state, found {self.asks!r}")
        if self.segments not in KINDS:
            raise UnknownNameError("kind of segment", self.segments, KINDS)
        bounds = {
            "characters": (2000, 1_000_000),
            "temperature": (0, 2),
            "repeat": (0, 1_000_000),
            "max_requests": (0, 1e12),
            "max_cost": (0, 1e12),
        }
        for name, (low, high) in bounds.items():
            value = getattr(self, name)
            if value is not None and not low <= value <= high:
                raise InputError(f"judge llm: {name} must be from {low:,} to {high:,.0f}, found {value!r}")

    @property
    def scale(self) -> Scale:
        """What it is asked for."""
        return self.asks

    def basis(self, means: Means) -> Basis:
        """Model, address, prompt and parameters; InputError where no such model is configured, or its key not set."""
        model = self._model(means)
        model.key()
        if self.max_cost is not None and not (model.price_in or model.price_out):
            raise InputError(
                f"judge llm: max_cost cannot be kept, as the model {model.name!r} has no price_in and no price_out"
            )
        said = [PROMPT_VERSION, model.base_url, model.model, self.asks, self.segments, self.characters]
        said += [self.temperature, self.repeat]
        return Basis(sha256(json.dumps(said).encode()).hexdigest()[:12], model.model, PROMPT_VERSION)

    def __call__(self, cases: Iterable[Case], means: Means) -> Iterator[Verdict]:
        """Verdicts in order of the cases, several asked about at once; it ends early where it was stopped."""
        model = self._model(means)
        given = {} if self.temperature is None else {"temperature": self.temperature}
        asker = Asker(model, means, given, self.max_requests, self.max_cost)
        waiting: deque[Future[Verdict]] = deque()
        with ThreadPoolExecutor(model.concurrency, thread_name_prefix="judge") as pool:
            try:
                for case in cases:
                    waiting.append(pool.submit(self._judged, case, asker))
                    if len(waiting) > 2 * model.concurrency:
                        yield waiting.popleft().result()
                while waiting:
                    yield waiting.popleft().result()
            except StoppedError:
                return
            finally:
                asker.end()  # whoever stops listening pays for what is on the way, and for no more
                for one in waiting:
                    one.cancel()

    def _judged(self, case: Case, asker: Asker) -> Verdict:
        scores, reasons = list[float | None](), list[str]()
        start: float | None = None
        try:
            for question in questions(case, self.asks, self.characters):
                answer = asker.ask(question, self.repeat)
                scores += answer.scores
                reasons += answer.reasons
                start = answer.start if start is None else start
        except StoppedError:
            raise
        except ForbiddenError as error:  # by the operator's settings: no outage, and no fault of the trajectory
            raise InputError(f"judge llm: {error}") from None
        except JudgeError as error:
            return Verdict((None,) * len(case.segments), 0.0, missing=str(error))
        return Verdict(tuple(scores), start or 0.0, tuple(reasons))

    def _model(self, means: Means) -> Model:
        known = {name: one for name, one in means.models.items() if isinstance(one, Model)}
        if not known:
            how = f"name a file with --judges FILE or {VARIABLE}; docs/judges_models.md has what stands in it"
            raise InputError(f"judge llm: no model is configured: {how}")
        if self.model is None:
            if len(known) > 1:
                raise InputError(f"judge llm: several models are configured, name one with model=: {', '.join(known)}")
            return next(iter(known.values()))
        if self.model not in known:
            raise UnknownNameError("configured model", self.model, known)
        return known[self.model]
