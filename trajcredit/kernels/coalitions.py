"""Shapley values of the calls of a rollout, in the game that its siblings' outcomes define.

The players of a trajectory are some of its calls. A sibling that made the calls of a coalition S too says what can be
expected when S is kept. Values are taken relative to b, the mean of the siblings:

    v(S) - b = sum of R_j - b over the siblings that made all of S, over (1 + how many they are),
    v(none) - b = 0,  v(all) - b = R_t - b

which is the siblings' mean with one pseudo-count at b. A call that uses another (`gate` opens the edges that count) can
only be kept where that one is: what a coalition lacks an input of is drawn anew with the rest.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from trajcredit.arrays import BOOL, F64, I64
from trajcredit.kernels.jit import jit

__all__ = ["Game", "exact_shares", "sampled_shares"]


class Game(NamedTuple):
    """What the games of T trajectories are made of.

    offsets         i64[T+1]  trajectory t owns spans offsets[t]:offsets[t+1]
    parent_offsets  i64[N+1]  span i owns edges parent_offsets[i]:parent_offsets[i+1]
    parents         i64[M]    all smaller than their child
    gate            bool[M]   edges that an input comes along
    players         i64[P]    spans, in order: players[player_offsets[t]:player_offsets[t+1]] are those of t
    player_offsets  i64[T+1]
    key             i64[P]    what each player did
    made            i64[Q]    all that a trajectory did, sorted: made[made_offsets[t]:made_offsets[t+1]]
    made_offsets    i64[T+1]
    members         i64[U]    scored trajectories of group g: members[member_offsets[g]:member_offsets[g+1]]
    member_offsets  i64[G+1]
    group           i64[T]
    centred         f64[T]    R minus the mean of the group, NaN where unscored
    against         f64[T]    R minus the mean of the siblings, NaN where unscored
    """

    offsets: I64
    parent_offsets: I64
    parents: I64
    gate: BOOL
    players: I64
    player_offsets: I64
    key: I64
    made: I64
    made_offsets: I64
    members: I64
    member_offsets: I64
    group: I64
    centred: F64
    against: F64


@jit
def exact_shares(game: Game, which: I64, bins: int) -> F64:
    """Every coalition of a few calls, weighed as Shapley does.

    which    i64[W]        trajectories to look at: scored, 1 to 62 players each (2^players coalitions are walked)
    bins     >= 1; how finely the result is told apart
    returns  f64[P, bins]  share of each player, by how many others were kept when it joined: size * bins // n; the
                           shares of a trajectory add up to R_t - b

    Shapley 1953, on the game of feasible coalitions (Gilles, Owen and van den Brink 1992, conjunctive permissions).
    """
    shares = np.zeros((len(game.players), bins))
    for t in which:
        first = game.player_offsets[t]
        n = game.player_offsets[t + 1] - first
        kept_too, sibling = _siblings(game, t)
        sets = np.zeros(len(sibling), dtype=np.int64)
        for j in range(len(sibling)):
            for p in range(n):
                if kept_too[j, p]:
                    sets[j] |= 1 << p
        value = _values(sets, sibling, _needs(game, t), game.against[t])
        weight = np.full(n, 1.0 / n)
        for size in range(1, n):  # 1 / (n * (n - 1 over size))
            weight[size] = weight[size - 1] * size / (n - size)
        for s in range((1 << n) - 1):
            size = 0
            for p in range(n):
                size += (s >> p) & 1
            for p in range(n):
                if (s >> p) & 1 == 0:
                    shares[first + p, size * bins // n] += weight[size] * (value[s | (1 << p)] - value[s])
    return shares


@jit
def sampled_shares(game: Game, which: I64, orders: I64, bins: int) -> F64:
    """The mean over some orders of joining, each walked forward and backward (antithetic).

    which    i64[W]        trajectories to look at: scored, n players each
    orders   i64[O, n]     permutations of the players
    bins     >= 1
    returns  f64[P, bins]  as `exact_shares`; here too the shares of a trajectory add up to R_t - b, as they do in
                           every single order

    Castro, Gomez and Tejada 2009; antithetic pairs as in Mitchell et al. 2022 (arXiv 2104.12199).
    """
    shares = np.zeros((len(game.players), bins))
    n = orders.shape[1]
    place = np.zeros(n, dtype=np.int64)
    after = np.zeros(n + 1)
    for t in which:
        first = game.player_offsets[t]
        kept_too, sibling = _siblings(game, t)
        for walk in range(2 * len(orders)):
            order = orders[walk // 2] if walk % 2 == 0 else orders[walk // 2][::-1]
            for k in range(n):
                place[order[k]] = k + 1
            _walk(after, _when_kept(game, t, place), kept_too, sibling, game.against[t])
            for k in range(n):
                shares[first + order[k], k * bins // n] += after[k + 1] - after[k]
    return shares / (2 * len(orders))


@jit
def _siblings(game: Game, t: int) -> tuple[BOOL, F64]:
    """Whether each sibling made the call of each player too bool[m, n], and its R_j - b f64[m]."""
    first, last = game.player_offsets[t], game.player_offsets[t + 1]
    start, end = game.member_offsets[game.group[t]], game.member_offsets[game.group[t] + 1]
    kept_too = np.zeros((end - start - 1, last - first), dtype=np.bool_)
    sibling = np.zeros(end - start - 1)
    baseline = game.centred[t] - game.against[t]
    m = 0
    for j in game.members[start:end]:
        if j == t:
            continue
        made = game.made[game.made_offsets[j] : game.made_offsets[j + 1]]
        for p in range(last - first):
            at = np.searchsorted(made, game.key[first + p])
            kept_too[m, p] = at < len(made) and made[at] == game.key[first + p]
        sibling[m] = game.centred[j] - baseline
        m += 1
    return kept_too, sibling


@jit
def _needs(game: Game, t: int) -> I64:
    """The players that each player of t rests on, as bits."""
    start, end = game.offsets[t], game.offsets[t + 1]
    players = game.players[game.player_offsets[t] : game.player_offsets[t + 1]]
    under = np.zeros(end - start, dtype=np.int64)
    needs = np.zeros(len(players), dtype=np.int64)
    p = 0
    for i in range(start, end):
        for e in range(game.parent_offsets[i], game.parent_offsets[i + 1]):
            if game.gate[e]:
                under[i - start] |= under[game.parents[e] - start]
        if p < len(players) and players[p] == i:
            needs[p] = under[i - start]
            under[i - start] |= 1 << p
            p += 1
    return needs


@jit
def _values(sets: I64, sibling: F64, needs: I64, against: float) -> F64:
    """v(S) - b of every coalition S, a number whose bits are its players."""
    n = len(needs)
    value = np.zeros(1 << n)
    for s in range(1, len(value) - 1):
        kept = 0
        for p in range(n):
            if (s >> p) & 1 and needs[p] & ~s == 0:
                kept |= 1 << p
        count = 0
        total = 0.0
        for j in range(len(sets)):
            if kept & ~sets[j] == 0:
                count += 1
                total += sibling[j]
        value[s] = total / (1 + count)
    value[-1] = against
    return value


@jit
def _when_kept(game: Game, t: int, place: I64) -> I64:
    """The place in the order, from 1, at which each player of t and all that it rests on have joined."""
    start, end = game.offsets[t], game.offsets[t + 1]
    players = game.players[game.player_offsets[t] : game.player_offsets[t + 1]]
    under = np.zeros(end - start, dtype=np.int64)
    ready = np.zeros(len(players), dtype=np.int64)
    p = 0
    for i in range(start, end):
        latest = 0
        for e in range(game.parent_offsets[i], game.parent_offsets[i + 1]):
            if game.gate[e]:
                latest = max(latest, under[game.parents[e] - start])
        if p < len(players) and players[p] == i:
            latest = max(latest, place[p])
            ready[p] = latest
            p += 1
        under[i - start] = latest
    return ready


@jit
def _walk(after: F64, ready: I64, kept_too: BOOL, sibling: F64, against: float) -> None:
    """Fill `after` f64[n+1]: v - b once k players have joined, of whom those that are `ready` by then are kept."""
    n = len(ready)
    leaving = np.zeros(n + 1, dtype=np.int64)
    lost = np.zeros(n + 1)
    total = 0.0
    for j in range(len(sibling)):
        until = n
        for p in range(n):
            if not kept_too[j, p]:
                until = min(until, ready[p])
        leaving[until] += 1
        lost[until] += sibling[j]
        total += sibling[j]
    count = len(sibling)
    for k in range(1, n):
        count -= leaving[k]
        total -= lost[k]
        after[k] = total / (1 + count) if count > 0 else 0.0
    after[n] = against
