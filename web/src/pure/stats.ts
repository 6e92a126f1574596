/** How far two runs agree on one trajectory. Spans that either leaves unscored do not count. */

import { at } from "./graph";
import type { Credit } from "./pool";

export interface Agreement {
  spans: number;
  /** Part of the spans on which both have the same sign, zero being a sign of its own. */
  sign: number | null;
  /** Spearman rank correlation, ties at their mean rank; null where one of them is flat. */
  spearman: number | null;
  /** Half the summed difference of the two runs' shares of |credit|, signs kept: 0 all in place, 1 all moved. */
  moved: number | null;
  /** Whether the span of largest |credit| is the same one. */
  top: "same" | "different" | "tied" | null;
}

export function agreement(by: readonly Credit[], vs: readonly Credit[]): Agreement {
  const a: number[] = [];
  const b: number[] = [];
  by.forEach((value, i) => {
    const other = vs[i];
    if (value === null || typeof other !== "number") return;
    a.push(value);
    b.push(other);
  });
  if (a.length === 0) return { spans: 0, sign: null, spearman: null, moved: null, top: null };
  const same = a.filter((value, i) => Math.sign(value) === Math.sign(at(b, i))).length;
  return { spans: a.length, sign: same / a.length, spearman: spearman(a, b), moved: moved(a, b), top: top(a, b) };
}

export function spearman(a: readonly number[], b: readonly number[]): number | null {
  return pearson(ranks(a), ranks(b));
}

/** Rank of every value from 1, equal values at the mean of their ranks. */
export function ranks(values: readonly number[]): number[] {
  const order = values.map((_, i) => i).sort((i, j) => at(values, i) - at(values, j));
  const found = new Array<number>(values.length);
  for (let start = 0; start < order.length; ) {
    let end = start;
    while (end < order.length && at(values, at(order, end)) === at(values, at(order, start))) end++;
    for (let k = start; k < end; k++) found[at(order, k)] = (start + 1 + end) / 2;
    start = end;
  }
  return found;
}

function pearson(a: readonly number[], b: readonly number[]): number | null {
  const mean = (values: readonly number[]) => values.reduce((sum, v) => sum + v, 0) / values.length;
  const [ma, mb] = [mean(a), mean(b)];
  let [ab, aa, bb] = [0, 0, 0];
  a.forEach((value, i) => {
    const [da, db] = [value - ma, at(b, i) - mb];
    ab += da * db;
    aa += da * da;
    bb += db * db;
  });
  return aa === 0 || bb === 0 ? null : Math.max(-1, Math.min(1, ab / Math.sqrt(aa * bb)));
}

function moved(a: readonly number[], b: readonly number[]): number | null {
  const size = (values: readonly number[]) => values.reduce((sum, v) => sum + Math.abs(v), 0);
  const [sa, sb] = [size(a), size(b)];
  if (sa === 0 || sb === 0) return null;
  return a.reduce((sum, value, i) => sum + Math.abs(value / sa - at(b, i) / sb), 0) / 2;
}

function top(a: readonly number[], b: readonly number[]): Agreement["top"] {
  const [ta, tb] = [tops(a), tops(b)];
  if (ta.length > 1 || tb.length > 1) return "tied";
  return ta[0] === tb[0] ? "same" : "different";
}

function tops(values: readonly number[]): number[] {
  const most = values.reduce((m, v) => Math.max(m, Math.abs(v)), 0);
  return values.flatMap((value, i) => (Math.abs(value) >= most - 1e-12 ? [i] : []));
}

/** by minus vs, null where either is. */
export function difference(by: readonly Credit[], vs: readonly Credit[]): Credit[] {
  return by.map((value, i) => {
    const other = vs[i];
    return value === null || typeof other !== "number" ? null : value - other;
  });
}

/** Spans in order of blame: the most negative first, of equal ones the earliest; the most praised where none is blamed. */
export function ranking(credit: readonly Credit[]): number[] {
  const scored = credit.flatMap((value, span) => (value ? [{ span, value }] : []));
  const blamed = scored.filter(({ value }) => value < 0);
  return (blamed.length > 0 ? blamed : scored)
    .sort((a, b) => Math.abs(b.value) - Math.abs(a.value) || a.span - b.span)
    .map(({ span }) => span);
}
