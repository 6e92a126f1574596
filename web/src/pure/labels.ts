/** What is said of spans: verdicts, what was changed and not saved yet, and which view of the queue is looked at. */

import type { Label } from "../api";

export const VERDICTS = ["culprit", "contributed", "innocent", "unsure"] as const;
export type Verdict = (typeof VERDICTS)[number];

/** As the buttons have them; the key is the place, from 1. */
export const VERDICT_WORDS: Record<Verdict, string> = {
  culprit: "culprit",
  contributed: "contributed",
  innocent: "innocent",
  unsure: "can’t tell",
};

export const VERDICT_TITLES: Record<Verdict, string> = {
  culprit: "the choice that lost it: done otherwise, the rollout would have gone on well",
  contributed: "wrong too, but not what lost it",
  innocent: "right, or without effect",
  unsure: "looked at, and it cannot be told",
};

export const QUEUES = ["disagree", "high", "random"] as const;
export type Queue = (typeof QUEUES)[number];
export const QUEUE_WORDS: Record<Queue, string> = {
  disagree: "runs disagree most",
  high: "largest credit",
  random: "random tenth",
};

export const OUTCOMES = ["fail", "pass", "any"] as const;
export type Outcome = (typeof OUTCOMES)[number];
export const OUTCOME_WORDS: Record<Outcome, string> = { fail: "failed", pass: "passed", any: "any" };

/** `trajectory`: null leaves the choice to the queue. */
export interface LabelView {
  show: "queue" | "grades";
  queue: Queue;
  outcome: Outcome;
  trajectory: string | null;
  span: number | null;
}

export const NO_LABELS: LabelView = { show: "queue", queue: "disagree", outcome: "fail", trajectory: null, span: null };

export function readLabels(search: string): LabelView {
  const given = new URLSearchParams(search);
  const digits = /^s(\d{1,9})$/.exec(given.get("span") ?? "")?.[1];
  return {
    show: given.get("show") === "grades" ? "grades" : "queue",
    queue: QUEUES.find((queue) => queue === given.get("queue")) ?? NO_LABELS.queue,
    outcome: OUTCOMES.find((outcome) => outcome === given.get("outcome")) ?? NO_LABELS.outcome,
    trajectory: given.get("t") || null,
    span: digits === undefined ? null : Number(digits),
  };
}

export function writeLabels(view: LabelView): string {
  const out = new URLSearchParams();
  if (view.show !== NO_LABELS.show) out.set("show", view.show);
  if (view.queue !== NO_LABELS.queue) out.set("queue", view.queue);
  if (view.outcome !== NO_LABELS.outcome) out.set("outcome", view.outcome);
  if (view.trajectory) out.set("t", view.trajectory);
  if (view.span !== null) out.set("span", `s${view.span}`);
  const text = out.toString();
  return text ? `?${text}` : "";
}

/** What one person says of one span; a verdict of null takes back what was said. */
export interface Word {
  verdict: Verdict | null;
  note: string;
}

/** Words by span. */
export type Words = ReadonlyMap<number, Word>;

export const NO_WORD: Word = { verdict: null, note: "" };

/** The words in labels of one person. */
export function wordsOf(own: readonly Label[]): Words {
  return new Map(own.map((label) => [label.span, { verdict: label.verdict, note: label.note ?? "" }]));
}

/** With the verdict on a span; the same one again takes it back. */
export function withVerdict(words: Words, span: number, verdict: Verdict): Words {
  const before = words.get(span);
  const next = before?.verdict === verdict ? null : verdict;
  return new Map(words).set(span, { verdict: next, note: before?.note ?? "" });
}

export function withNote(words: Words, span: number, note: string): Words {
  return new Map(words).set(span, { verdict: words.get(span)?.verdict ?? null, note });
}

/** Spans whose words differ from those saved, in order; a note alone says nothing that could be kept. */
export function changed(words: Words, saved: Words): number[] {
  return [...words.keys()]
    .filter((span) => {
      const [now, before] = [words.get(span), saved.get(span)];
      const said = (before?.verdict ?? null) !== (now?.verdict ?? null);
      return said || (now?.verdict != null && now.note.trim() !== (before?.note ?? "").trim());
    })
    .sort((a, b) => a - b);
}

/** Under what a verdict was given. */
export interface Given {
  blind: boolean;
  seconds: number | null;
  queue: Queue | null;
}

/** One line of what is sent. */
export interface LabelRow extends Given {
  trajectory_id: string;
  span_index: number;
  verdict: Verdict | null;
  labeller: string;
  note: string | null;
}

/** What is sent of a span. Where only the note is new, the verdict stays one that was given as `said` has it. */
export function labelRow(
  trajectory: string,
  span: number,
  labeller: string,
  word: Word,
  given: Given,
  said: Label | null | undefined,
): LabelRow {
  const { blind, seconds, queue } = said && said.verdict === word.verdict ? said : given;
  const place = { trajectory_id: trajectory, span_index: span, labeller };
  return { ...place, verdict: word.verdict, note: word.note.trim() || null, blind, seconds, queue };
}

/** Spans with a note and no verdict to go with it. */
export function loose(words: Words): number[] {
  return [...words].flatMap(([span, word]) => (word.verdict === null && word.note.trim() !== "" ? [span] : []));
}

/** `0.67 [0.21, 0.94]`; without an interval the value alone, without a value a dash. */
export function interval({ value, low, high }: { value: number | null; low: number | null; high: number | null }) {
  if (value === null) return "–";
  const plain = value.toFixed(2);
  return low === null || high === null ? plain : `${plain} [${low.toFixed(2)}, ${high.toFixed(2)}]`;
}
