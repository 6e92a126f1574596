/** Hits of a text in a transcript: which comes next, which are marked where, and where they stand beside it all. */

import type { Mark } from "./excerpt";

/** As the server tells them, every hit of a text in all spans; `span` and `start` have one entry a placed hit. */
export interface Hits {
  q: string;
  /** Characters of a hit. */
  length: number;
  span: readonly number[];
  /** null: in the name of the tool. */
  start: readonly (number | null)[];
  /** Spans that have hits, and how many. */
  spans: readonly number[];
  counts: readonly number[];
  /** More than are placed, where there are very many. */
  total: number;
  /** The first span that was not searched; null where all were. */
  next: number | null;
}

/** The colour of hits, after those of edges. */
export const HIT = 6;

/** Marks of one span: those around the hit that is looked at, where it has more. */
const MOST_MARKS = 60;

/** What was searched later, after what was searched before. */
export function joined(before: Hits, after: Hits, most: number): Hits {
  const room = Math.max(0, most - before.span.length);
  return {
    ...after,
    span: [...before.span, ...after.span.slice(0, room)],
    start: [...before.start, ...after.start.slice(0, room)],
    spans: [...before.spans, ...after.spans],
    counts: [...before.counts, ...after.counts],
    total: before.total + after.total,
  };
}

/** The hit after or before the one looked at, counted from 1, round and round; the first one from the span looked at on. */
export function step(hits: Hits, occ: number, by: 1 | -1, span: number | null): number {
  const placed = hits.span.length;
  if (placed === 0) return 0;
  if (occ >= 1 && occ <= placed) return ((occ - 1 + by + placed) % placed) + 1;
  const from = hits.span.findIndex((one) => one >= (span ?? 0));
  if (by === 1) return from < 0 ? 1 : from + 1;
  return from <= 0 ? placed : from;
}

/** Marks by span; the hit looked at, counted from 1, stands out. */
export function marksOfHits(hits: Hits, occ: number): Map<number, Mark[]> {
  const found = new Map<number, Mark[]>();
  const now = occ - 1;
  const ranges = rangesOf(hits);
  for (const [span, [first, last]] of ranges) {
    const here = now >= first && now < last ? now : first;
    const from = Math.max(first, Math.min(here - (MOST_MARKS >> 1), last - MOST_MARKS));
    const marks: Mark[] = [];
    for (let i = from; i < Math.min(last, from + MOST_MARKS); i++) {
      const start = hits.start[i];
      if (typeof start === "number") marks.push({ start, end: start + hits.length, colour: HIT, strong: i === now });
    }
    if (marks.length > 0) found.set(span, marks);
  }
  return found;
}

/** Spans whose tool has the text in its name. */
export function namedSpans(hits: Hits): Set<number> {
  return new Set(hits.span.filter((_, i) => hits.start[i] === null));
}

/** The placed hits of each span: positions from first to last, without it. */
function rangesOf(hits: Hits): Map<number, [number, number]> {
  const ranges = new Map<number, [number, number]>();
  hits.span.forEach((span, i) => {
    const range = ranges.get(span);
    if (range) range[1] = i + 1;
    else ranges.set(span, [i, i + 1]);
  });
  return ranges;
}

/** Marks of both kinds, hits first: where they overlap a reader looks for the hit. */
export function together(
  hits: ReadonlyMap<number, Mark[]>,
  others: ReadonlyMap<number, Mark[]>,
): ReadonlyMap<number, Mark[]> {
  if (hits.size === 0) return others;
  const all = new Map(others);
  for (const [span, marks] of hits) all.set(span, [...marks, ...(others.get(span) ?? [])]);
  return all;
}

/** Cells of a strip of so many that have hits. */
export function ticks(spans: readonly number[], cells: number, length: number): number[] {
  return [...new Set(spans.map((span) => Math.min(cells - 1, Math.floor((span * cells) / Math.max(1, length)))))];
}
