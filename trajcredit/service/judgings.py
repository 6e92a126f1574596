"""Judgings of a project: asked for, looked at, stopped, resumed. Who works on them is `judge_runner`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, BinaryIO

from trajcredit import registry
from trajcredit.errors import InputError
from trajcredit.judges import SEGMENTS, Judge
from trajcredit.judges.models import Configured
from trajcredit.service import plugins
from trajcredit.service.asking import as_text
from trajcredit.service.judged import local
from trajcredit.service.plugins import Plugin, default_text
from trajcredit.service.versions import code_version
from trajcredit.store import Store, judgings, opinions, pages
from trajcredit.store.filters import Filters
from trajcredit.store.judgings import Asked, Judging, State

__all__ = [
    "JudgingList",
    "JudgingView",
    "KnownJudge",
    "ask",
    "cancel",
    "export",
    "find",
    "kinds_of_segments",
    "known_judges",
    "listed",
    "made_of",
    "resume",
]

PAGE = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgingView:
    """A judging as people see it."""

    id: str
    judge: str
    label: str
    parameters: Mapping[str, Any]
    dataset: str | None
    scale: str
    segments: str
    state: State
    total: int
    judged: int
    missing: int
    requests: int
    retries: int
    cached: int
    uncounted: int
    tokens_in: int
    tokens_out: int
    cost: float
    model: str | None
    prompt_version: str | None
    fingerprint: str | None
    code_version: str
    error: str | None
    created: str
    started: str | None
    finished: str | None


@dataclass(frozen=True, slots=True)
class JudgingList:
    """Some judgings, newest first, and where the next page begins; null on the last."""

    items: tuple[JudgingView, ...]
    next: str | None


def ask(
    store: Store,
    project: str,
    judge: str,
    parameters: Mapping[str, Any],
    models: Mapping[str, Configured],
    dataset: str | None = None,
) -> JudgingView:
    """A queued judging.

    InputError where there is no such judge or model, where it reads files (no request names a file of this machine), or
    where nothing could be judged.
    """
    made = made_of(judge, parameters)
    _check_model(judge, made, models)
    filters = Filters(dataset=dataset)
    asked = Asked(
        judge=judge,
        label=_label(judge, made),
        parameters=_values(made),
        scale=made.scale,
        segments=made.segments,
        code_version=code_version(),
        filters=filters,
    )
    with store.write() as conn:
        if not pages.page(conn, project, filters, limit=1).total:
            of = "" if dataset is None else f" of data set {dataset!r}"
            raise InputError(f"project {project!r} has no trajectories{of}: nothing to judge")
        return _view(judgings.create(conn, project, asked))


def made_of(judge: str, parameters: Mapping[str, Any]) -> Judge:
    """The judge of a request, values as JSON or as the command line's text.

    InputError where it would read a file that the request names, or a parameter does not fit.
    """
    made = plugins.judge_from(judge, {key: as_text(key, value) for key, value in parameters.items()})
    if getattr(made, "reads_files", False):
        raise InputError(
            f"judge {judge!r} reads files, and no request names a file of this machine: "
            f"`trajcredit judge {judge} ...` asks it there, and POST /judgings/upload takes what it wrote"
        )
    return made


def find(store: Store, project: str, judging: str) -> JudgingView:
    """The judging of that id."""
    with store.read() as conn:
        return _view(judgings.find(conn, project, judging))


def listed(store: Store, project: str, cursor: str | None = None, limit: int = PAGE) -> JudgingList:
    """Judgings of a project, newest first."""
    with store.read() as conn:
        page = judgings.page(conn, project, cursor, limit)
    return JudgingList(tuple(map(_view, page.judgings)), page.next)


def cancel(store: Store, project: str, judging: str) -> JudgingView:
    """The judging, which does not go on; what was judged stays."""
    with store.write() as conn:
        return _view(judgings.cancel(conn, project, judging))


def resume(store: Store, project: str, judging: str) -> JudgingView:
    """The judging, queued again for what is not judged yet."""
    with store.write() as conn:
        if judgings.find(conn, project, judging).asked.judge == "file":
            raise InputError(f"judging {judging} was uploaded: upload the opinions that are missing as a new one")
        return _view(judgings.resume(conn, project, judging))


def export(store: Store, project: str, judging: str, out: BinaryIO) -> None:
    """Write its opinions, a row of JSON a line, in the order the trajectories were stored."""
    with store.read() as conn:
        for line in opinions.lines(conn, judgings.find(conn, project, judging)):
            out.write(line + b"\n")


@dataclass(frozen=True, slots=True)
class KnownJudge:
    """A registered judge, and how it can be asked."""

    plugin: Plugin
    on_the_spot: bool
    asks_model: bool
    over_http: bool


def known_judges() -> list[KnownJudge]:
    """Every judge there is."""
    found = []
    for plugin in plugins.judges():
        made = registry.judges.get(plugin.name)()
        asks, reads = (bool(getattr(made, fact, False)) for fact in ("asks_model", "reads_files"))
        found.append(KnownJudge(plugin, local(plugin.name), asks, not reads))
    return found


def kinds_of_segments() -> list[str]:
    """What may be judged as one."""
    return list(SEGMENTS)


def _check_model(name: str, made: Judge, models: Mapping[str, Configured]) -> None:
    """InputError names a model that no operator has configured."""
    kind = getattr(made, "needs_model", None)
    if kind is None:
        return
    known, wanted = [one for one, model in models.items() if isinstance(model, kind)], getattr(made, "model", None)
    if not known:
        raise InputError(f"judge {name!r} asks a model, and this server has none: it is started with --judges FILE")
    if wanted is None and len(known) > 1:
        raise InputError(f"judge {name!r}: name one of the server's models with `model`: {', '.join(known)}")
    if wanted is not None and wanted not in known:
        raise InputError(f"judge {name!r}: no model named {wanted!r}; this server has: {', '.join(known)}")


def _values(made: Judge) -> dict[str, Any]:
    given = {field.name: getattr(made, field.name) for field in fields(made)}  # type: ignore[arg-type]  # a dataclass; Protocols cannot say so
    return {key: list(value) if isinstance(value, tuple) else value for key, value in given.items()}


def _label(name: str, made: Judge) -> str:
    """The name, and the parameters that are not at their defaults."""
    usual = {parameter.name: parameter.default for parameter in registry.parameters(type(made))}
    own = {field: getattr(made, field) for field in usual if getattr(made, field) != usual[field]}
    said = ",".join(f"{key}={default_text(value)}" for key, value in own.items())
    return f"{name}:{said}" if said else name


def _view(found: Judging) -> JudgingView:
    return JudgingView(
        id=found.id,
        judge=found.asked.judge,
        label=found.asked.label,
        parameters=found.asked.parameters,
        dataset=found.asked.filters.dataset,
        scale=found.asked.scale,
        segments=found.asked.segments,
        state=found.state,
        total=found.total or 0,
        judged=found.judged,
        missing=found.missing,
        **asdict(found.outlay),
        model=found.model,
        prompt_version=found.prompt_version,
        fingerprint=found.fingerprint,
        code_version=found.asked.code_version,
        error=found.error,
        created=found.created,
        started=found.started,
        finished=found.finished,
    )
