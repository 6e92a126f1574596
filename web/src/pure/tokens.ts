/** The tokens of a row as a reader takes them in: stretches of one owner and one advantage, masked ones folded. */

import { at } from "./graph";

export interface Row {
  start: number;
  ids: number[];
  texts: string[] | null;
  mask: number[];
  advantages: number[];
  /** The span that owns each token; -1 where nobody trains it. */
  spans: number[];
}

/** Neighbouring tokens with the same mask, owner and advantage. Positions are those of the row's response tokens. */
export interface Stretch {
  start: number;
  end: number;
  trained: boolean;
  /** null where nobody owns them. */
  span: number | null;
  advantage: number;
}

/** Tokens in one line of the list: a long stretch is several lines, so that few are on screen. */
export const LINE = 100;

export function stretches(row: Row): Stretch[] {
  const found: Stretch[] = [];
  row.ids.forEach((_, i) => {
    const trained = at(row.mask, i) !== 0;
    const span = at(row.spans, i) < 0 ? null : at(row.spans, i);
    const advantage = at(row.advantages, i);
    const last = found.at(-1);
    if (last && last.trained === trained && last.span === span && last.advantage === advantage) last.end++;
    else found.push({ start: row.start + i, end: row.start + i + 1, trained, span, advantage });
  });
  return found;
}

/** A line of the list. Masked stretches have one of their own, after which their tokens come where it is open. */
export type Line =
  | { kind: "prompt"; tokens: number }
  | { kind: "folded"; stretch: Stretch; before: number | null; after: number | null }
  | { kind: "tokens"; stretch: Stretch; start: number; end: number };

/** What is listed of a window: `open` holds the starts of masked stretches that are not folded. */
export function linesOf(row: Row, promptTokens: number, open: ReadonlySet<number>): Line[] {
  const all = stretches(row);
  const lines: Line[] = row.start === 0 && promptTokens > 0 ? [{ kind: "prompt", tokens: promptTokens }] : [];
  all.forEach((stretch, i) => {
    if (!stretch.trained) {
      const [before, after] = [all[i - 1]?.span ?? null, all[i + 1]?.span ?? null];
      lines.push({ kind: "folded", stretch, before, after });
      if (!open.has(stretch.start)) return;
    }
    for (let start = stretch.start; start < stretch.end; start += LINE) {
      lines.push({ kind: "tokens", stretch, start, end: Math.min(stretch.end, start + LINE) });
    }
  });
  return lines;
}

/** The largest advantage of a window, which fills a bar. */
export function widest(row: Row): number {
  return row.advantages.reduce((most, value, i) => (at(row.mask, i) ? Math.max(most, Math.abs(value)) : most), 0);
}

export interface Spans {
  kind: string[];
  turn: number[];
  is_action: boolean[];
}

/** Kinds of the observations between two owners, which is what masked tokens there hold; none within one turn. */
export function between(spans: Spans, before: number | null, after: number | null): string[] {
  if (before === null || after === null || spans.turn[before] === spans.turn[after]) return [];
  const kinds = new Set<string>();
  for (let i = before + 1; i < after; i++) if (!spans.is_action[i]) kinds.add(at(spans.kind, i));
  return [...kinds];
}
