/** What of a long text is shown: its head, and the surroundings of every marked value. Offsets are characters. */

import { at } from "./graph";

/** A stretch of the text that has been loaded. */
export interface Known {
  from: number;
  text: string;
}

export interface Mark {
  start: number;
  end: number;
  colour: number;
  strong: boolean;
}

export type Piece =
  | { kind: "text"; text: string; from: number }
  | { kind: "mark"; text: string; from: number; colour: number; strong: boolean }
  | { kind: "gap"; from: number; size: number; loaded: boolean };

export interface Limits {
  characters: number;
  lines: number;
  around: number;
}

type Range = [number, number];

/** Characters in the sense of the server: code points, where JavaScript counts halves of some. */
export function characters(text: string): number {
  let size = 0;
  for (let i = 0; i < text.length; i += isPair(text, i) ? 2 : 1) size++;
  return size;
}

function isPair(text: string, i: number): boolean {
  const [high, low] = [text.charCodeAt(i), text.charCodeAt(i + 1)];
  return high >= 0xd800 && high < 0xdc00 && low >= 0xdc00 && low < 0xe000;
}

export function slice(text: string, start: number, end: number): string {
  return text.length === characters(text) ? text.slice(start, end) : [...text].slice(start, end).join("");
}

/** Head and tail as the server cuts a long text. */
export function known(head: string, tail: string, size: number): Known[] {
  const parts = [{ from: 0, text: head }];
  if (tail) parts.push({ from: size - characters(tail), text: tail });
  return parts;
}

export function excerpt(parts: readonly Known[], size: number, marks: readonly Mark[], limits: Limits): Piece[] {
  const wanted = windows(parts, size, marks, limits);
  const pieces: Piece[] = [];
  let here = 0;
  for (const [start, end] of wanted) {
    if (start > here) pieces.push({ kind: "gap", from: here, size: start - here, loaded: covered(parts, here, start) });
    pieces.push(...shown(parts, marks, start, end));
    here = end;
  }
  if (here < size) pieces.push({ kind: "gap", from: here, size: size - here, loaded: covered(parts, here, size) });
  return pieces;
}

/** Marked values whose text has not been loaded, with some room around. */
export function missing(parts: readonly Known[], size: number, marks: readonly Mark[], around: number): Range[] {
  return merge(
    marks
      .filter((mark) => mark.end <= size && !covered(parts, mark.start, mark.end))
      .map((mark): Range => [Math.max(0, mark.start - around), Math.min(size, mark.end + around)]),
    0,
  );
}

function windows(parts: readonly Known[], size: number, marks: readonly Mark[], limits: Limits): Range[] {
  const head = headEnd(parts[0]?.text ?? "", limits);
  const near = marks.map(
    (mark): Range => [Math.max(0, mark.start - limits.around), Math.min(size, mark.end + limits.around)],
  );
  const short = size <= limits.characters * 1.25 && head >= Math.min(size, limits.characters);
  const whole = short || limits.characters === Infinity;
  return merge([[0, whole ? size : Math.min(head, size)], ...near], limits.around / 2);
}

function headEnd(text: string, limits: Limits): number {
  const cut = slice(text, 0, limits.characters);
  let line = -1;
  for (let left = limits.lines; left > 0; left--) {
    line = cut.indexOf("\n", line + 1);
    if (line < 0) return characters(cut);
  }
  return characters(cut.slice(0, line));
}

function merge(ranges: Range[], slack: number): Range[] {
  const merged: Range[] = [];
  for (const [start, end] of ranges.sort((a, b) => a[0] - b[0])) {
    const last = merged.at(-1);
    if (last && start <= last[1] + slack) last[1] = Math.max(last[1], end);
    else if (end > start) merged.push([start, end]);
  }
  return merged;
}

function covered(parts: readonly Known[], start: number, end: number): boolean {
  return parts.some((part) => part.from <= start && part.from + characters(part.text) >= end);
}

/** A window as text, marks and what of it is not loaded. */
function shown(parts: readonly Known[], marks: readonly Mark[], start: number, end: number): Piece[] {
  const cuts = new Set([start, end]);
  for (const part of parts) for (const cut of [part.from, part.from + characters(part.text)]) cuts.add(cut);
  for (const mark of marks) cuts.add(mark.start).add(mark.end);
  const inside = [...cuts].filter((cut) => cut >= start && cut <= end).sort((a, b) => a - b);
  return inside.slice(1).map((to, i) => piece(parts, marks, at(inside, i), to));
}

function piece(parts: readonly Known[], marks: readonly Mark[], from: number, to: number): Piece {
  const part = parts.find((p) => p.from <= from && p.from + characters(p.text) >= to);
  if (!part) return { kind: "gap", from, size: to - from, loaded: false };
  const text = slice(part.text, from - part.from, to - part.from);
  const over = marks.filter((mark) => mark.start <= from && mark.end >= to);
  const mark = over.find((one) => one.strong) ?? over[0];
  return mark ? { kind: "mark", text, from, colour: mark.colour, strong: mark.strong } : { kind: "text", text, from };
}
