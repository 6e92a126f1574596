"""One trajectory and its advantages -> token rows, or the place where that is not possible."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from trajcredit.arrays import F64, I64
from trajcredit.errors import InputError
from trajcredit.model import ACTION_KINDS, Trajectory, TurnTokens
from trajcredit.tokens.cutting import masked
from trajcredit.tokens.record import SHARES, Aligned, Failure, IdsSource, MisalignedError, Share, check_possible
from trajcredit.tokens.recorded import NoPromptError, has_ids, recorded
from trajcredit.tokens.rendered import Said, Script
from trajcredit.tokens.rows import Acted, OpenRow, Wish, finished
from trajcredit.tokens.territories import Piece, owners, territories
from trajcredit.tokens.tokenizer import Renderer

__all__ = ["align"]

MIXED = "the log has ids of what was sampled only: prompts were rendered, and each answer's ids spell what is rendered"

LOSES = "the tokenizer loses text: its ids do not spell what the policy wrote"
UNOWNED = "actions own no token (empty, or all their tokens begin in another span): their numbers reach nothing"
LOST = "ids that the log has, and that do not fit the rest of it, were left out by its reader: made from the text"


def align(
    trajectory: Trajectory,
    advantages: F64,
    uid: str,
    *,
    renderer: Renderer | None = None,
    share: Share = "copy",
    max_tokens: int | None = None,
    outcome: float | None = None,
) -> Aligned:
    """Token rows of a trajectory, every sampled token trained once and owned by one span.

    advantages  f64[n_spans]  one number a span; NaN on observations

    From the logged ids where the log has any; else `renderer` writes the transcript with its chat template and makes
    ids of the text. A turn goes on with a row whose tokens (or text) its prompt begins with, and opens a row where it
    goes on with none: after a compaction, where a template leaves the thinking out of the history, in a branch. In that
    row the turns before it are context: mask 0, for another row trains them.

    `share` is how a span's number reaches its tokens: on each (copy), divided by their count, or on the last one.
    `max_tokens` cuts a longer row at its end, which a note counts; tokens that remain keep their numbers.

    What does not fit is a Failure with turn and span, and there are no rows then. InputError only for arguments: a
    number of advantages that is not that of the spans, an unknown share, a budget below 1.
    """
    n = len(trajectory.spans)
    if np.shape(advantages) != (n,):
        raise InputError(f"{trajectory.id}: advantages of shape {np.shape(advantages)} for {n} spans")
    if share not in SHARES:
        raise InputError(f"share={share!r}: expected {' | '.join(SHARES)}")
    if max_tokens is not None and max_tokens < 1:
        raise InputError(f"max_tokens={max_tokens}: expected 1 or more")
    notes: list[str] = []
    try:
        _check_scored(trajectory, advantages)
        opened, source = _opened(trajectory, advantages, renderer, share, notes)
        _check_budget(opened, max_tokens)
        notes += _unowned(trajectory, advantages, opened)
        made = finished(trajectory, opened, advantages, Wish(uid, share, max_tokens, outcome), source, notes)
        for row in made.rows:
            check_possible(row, None if renderer is None else renderer.vocabulary)
        return made
    except MisalignedError as wrong:
        return Aligned((), (Failure(trajectory.id, wrong.turn, wrong.span, wrong.reason),), tuple(dict.fromkeys(notes)))
    except OverflowError:
        return Aligned((), (Failure(trajectory.id, -1, None, "a token id is no number of 64 bits, or is negative"),))
    except InputError as error:  # a text or an id that this tokenizer cannot take: the next trajectory may be fine
        return Aligned((), (Failure(trajectory.id, -1, None, str(error)),), tuple(dict.fromkeys(notes)))


def _check_scored(trajectory: Trajectory, advantages: F64) -> None:
    acting = [i for i, span in enumerate(trajectory.spans) if span.kind in ACTION_KINDS]
    if not acting:
        raise MisalignedError(-1, None, "no span is an action: nothing was sampled")
    unscored = [i for i in acting if np.isnan(advantages[i])]
    if len(unscored) == len(acting):
        raise MisalignedError(-1, None, "unscored: no action has an advantage")
    if unscored:
        raise MisalignedError(trajectory.spans[unscored[0]].turn, unscored[0], "unscored: this action has no advantage")
    endless = next((i for i in acting if np.isinf(advantages[i])), None)
    if endless is not None:
        raise MisalignedError(trajectory.spans[endless].turn, endless, "its advantage is not finite")


def _check_budget(opened: Sequence[OpenRow], max_tokens: int | None) -> None:
    """A budget that ends in the prompt of every row leaves nothing of the trajectory."""
    acting = [row for row in opened if row.owned]
    if max_tokens is None or not acting or any(row.owned[0][1].start < max_tokens for row in acting):
        return
    turn, piece = acting[0].owned[0]
    what = f"max_tokens {max_tokens} leaves no token to train (the prompt has {piece.start})"
    raise MisalignedError(turn, piece.span, what)


def _unowned(trajectory: Trajectory, advantages: F64, opened: Sequence[OpenRow]) -> list[str]:
    """What to say of actions whose number reaches no token: they are empty, or another span begins all their tokens."""
    spans = trajectory.spans
    owning = {piece.span for row in opened for _, piece in row.owned}
    carried = {(spans[i].turn, float(advantages[i])) for i in owning}
    for i in np.flatnonzero(np.nan_to_num(advantages)).tolist():
        tokens = spans[i].tokens
        masked = tokens is not None and tokens.mask is not None and not any(tokens.mask)
        if i not in owning and not masked and (spans[i].turn, float(advantages[i])) not in carried:
            return [UNOWNED]
    return []


def _opened(
    trajectory: Trajectory, advantages: F64, renderer: Renderer | None, share: Share, notes: list[str]
) -> tuple[list[OpenRow], IdsSource]:
    """The rows before anything is shared or cut, and where their ids are from."""
    if has_ids(trajectory):
        try:
            return recorded(trajectory, advantages, renderer, share, notes), "engine"
        except NoPromptError as missing:
            if renderer is None or not renderer.templates:
                why = "pass a tokenizer with a chat template, which renders the prompts"
                raise MisalignedError(missing.turn, missing.span, f"{missing.reason}: {why}") from missing
            return _from_text(trajectory, renderer, _sampled(trajectory), [*notes, MIXED], notes), "retokenized"
    lost = next((note for note in trajectory.report if note.code == "lost-tokens"), None)
    if lost is not None:
        notes.append(LOST)
    if renderer is None:
        if lost is None:
            raise MisalignedError(-1, None, "the log has no token ids: pass a tokenizer")
        turn = -1 if lost.span is None else trajectory.spans[lost.span].turn
        what = f"the token ids of the log do not fit the rest of it: {lost.message}: pass a tokenizer"
        raise MisalignedError(turn, lost.span, what)
    if any(turn.logprobs for turn in trajectory.turns):
        notes.append("log-probs are logged without the ids they belong to: left out")
    return _from_text(trajectory, renderer, {}, notes, notes), "retokenized"


# ---------------------------------------------------------------- from text


def _from_text(
    trajectory: Trajectory,
    renderer: Renderer,
    sampled: Mapping[int, TurnTokens],
    noted: Sequence[str],
    notes: list[str],
) -> list[OpenRow]:
    """Rows of the rendered text; of turns in `sampled` the ids are the engine's.

    An engine keeps the ids of what it read and wrote, and tokenises only what a request adds. From text the same is
    done: a prompt that begins with the text of a row adds the ids of its rest, made apart from what stands before.
    """
    notes[:] = [*noted, *renderer.notes]
    rows: list[OpenRow] = []
    script = Script(trajectory, renderer)
    for said in script.turns(notes):
        row = _with_prompt(rows, said.prompt, renderer)
        logged = sampled.get(said.turn)
        if logged is None:
            acted = _acted(said, renderer, notes)
        else:
            acted = _spelled(said, renderer, logged, _mask(trajectory, logged))
        row.act(acted, said.text)
        if logged is not None and (tail := said.text[len(renderer.decode(acted.ids)) :]):
            row.observe(renderer.ids(tail))
    rest = script.rest()
    if rest is not None and rows:
        if rest.startswith(rows[-1].text):
            rows[-1].observe(renderer.ids(rest[len(rows[-1].text) :]), rest[len(rows[-1].text) :])
        else:
            notes.append("what was observed after the last answer does not go on with its row: left out")
    return rows


def _with_prompt(rows: list[OpenRow], prompt: str, renderer: Renderer) -> OpenRow:
    """The latest row that this prompt goes on with, now with all of it; else a new one."""
    for row in reversed(rows):
        if prompt.startswith(row.text):
            added = prompt[len(row.text) :]
            row.observe(renderer.ids(added), added)
            return row
    rows.append(OpenRow())
    rows[-1].observe(renderer.ids(prompt, begins=True), prompt)
    return rows[-1]


def _acted(said: Said, renderer: Renderer, notes: list[str]) -> Acted:
    """A turn whose ids are made from what was rendered, in one piece."""
    ids, starts = renderer.pieces(said.text)
    before, ahead = ("", []) if renderer.anchor is None else (renderer.anchor[0], [renderer.anchor[1]])
    if renderer.decode([*ahead, *ids]) != before + said.text:
        notes.append(LOSES)
    return Acted(said.turn, ids, _owned(said, starts, renderer.stop))


def _owned(said: Said, starts: I64, stop: bool) -> list[Piece]:
    """Whose the tokens are that begin at these characters, without those that are not trained."""
    trained = np.zeros(len(starts), dtype=bool)
    for start, end in said.marked if said.marked is not None else ((0, said.stop),):
        trained |= (starts >= start) & (starts < end)
    trained[starts >= said.stop] = stop
    found: list[Piece] = []
    for piece in owners(starts, territories(said.text, said.pieces, said.whole)):
        edges = np.diff(np.concatenate([[False], trained[piece.start : piece.end], [False]]).astype(np.int8))
        for first, last in zip(np.flatnonzero(edges == 1), np.flatnonzero(edges == -1), strict=True):
            found.append(Piece(piece.span, piece.start + int(first), piece.start + int(last)))
    return found


def _sampled(trajectory: Trajectory) -> dict[int, TurnTokens]:
    """The sampled ids by turn."""
    found: dict[int, TurnTokens] = {}
    for turn in trajectory.turns:
        if turn.sampled_ids is not None:
            found[turn.turn] = turn
    for span in trajectory.spans:
        if span.kind not in ACTION_KINDS or span.turn in found:
            continue
        tokens = span.tokens
        alone = sum(s.turn == span.turn and s.kind in ACTION_KINDS for s in trajectory.spans) == 1
        if tokens is None or tokens.ids is None or not alone or (tokens.mask is not None and not all(tokens.mask)):
            raise MisalignedError(
                span.turn, None, "prompt ids are missing, and the sampled ids of this turn are not in one piece"
            )
        found[span.turn] = TurnTokens(span.turn, None, tokens.ids, tokens.logprobs)
    return found


def _mask(trajectory: Trajectory, logged: TurnTokens) -> list[int] | None:
    """The mask that is logged for a turn; MisalignedError where several spans share its ids, so that nobody knows."""
    acting = [i for i, s in enumerate(trajectory.spans) if s.turn == logged.turn and s.kind in ACTION_KINDS]
    for i in acting:
        tokens, n = trajectory.spans[i].tokens, len(logged.sampled_ids or ())
        if tokens is None or tokens.mask is None:
            continue
        if len(tokens.mask) == n and (len(acting) == 1 or (tokens.ids is None and not any(tokens.mask))):
            return tokens.mask
        if len(acting) == 1 or not all(tokens.mask):
            what = f"prompt ids are missing, and the mask of this span does not tell of each of {n} sampled ids"
            raise MisalignedError(logged.turn, i, what)
    return None


def _spelled(said: Said, renderer: Renderer, logged: TurnTokens, mask: list[int] | None) -> Acted:
    """A turn with the engine's ids, which must spell what is rendered; the token that ends it may be missing."""
    ids = logged.sampled_ids or []
    text, starts = renderer.spelled(ids)
    if text not in (said.text, said.text[: said.stop]):
        at = next(
            (i for i, (a, b) in enumerate(zip(text, said.text, strict=False)) if a != b), min(len(text), len(said.text))
        )
        what = f"{text[at : at + 30]!r} was sampled, {said.text[at : at + 30]!r} is rendered"
        raise MisalignedError(said.turn, said.whole, f"the tokenizer is not the one that sampled this turn: {what}")
    if logged.logprobs is not None and len(logged.logprobs) != len(ids):
        raise MisalignedError(
            said.turn, None, f"{len(logged.logprobs)} log-probs are logged for {len(ids)} sampled ids"
        )
    owned = masked(_owned(said, starts, True), mask)
    return Acted(said.turn, ids, owned, logged.logprobs, logged.policy_version)
