/** What one person does with one rollout of the queue: says, notes, saves, goes on. */

import { useRef, useState } from "react";
import { api, type Label, type Trajectory } from "./api";
import { giveLabels } from "./label-queries";
import type { How } from "./location";
import { notice } from "./notice";
import { plural } from "./pure/format";
import { at } from "./pure/graph";
import {
  changed,
  type LabelView,
  labelRow,
  loose,
  NO_WORD,
  type Verdict,
  type Words,
  withNote,
  withVerdict,
  wordsOf,
} from "./pure/labels";

export type ChangeLabels = (part: Partial<LabelView>, how?: How) => void;

export interface Task {
  project: string;
  labeller: string;
  view: LabelView;
  change: ChangeLabels;
  shown: Trajectory;
  /** What this person has saved of it. */
  own: readonly Label[];
  selected: number;
}

const OBSERVATION = "An observation: only what the policy wrote gets a verdict.";
const NOTHING = "Nothing to save yet: 1 to 4 on a span says what it was; x passes over.";

export function useDesk({ project, labeller, view, change, shown, own, selected }: Task) {
  const saved = wordsOf(own);
  const [words, setWords] = useState<Words>(saved);
  const [done, setDone] = useState(false);
  const [revealed, setRevealed] = useState(false);
  const [busy, setBusy] = useState(false);
  /** Whether any credit of this rollout was ever on screen here. */
  const seen = useRef(false);
  const spent = useSpent();
  const unsaved = changed(words, saved);

  const next = async () => {
    const asked = { project, labeller, queue: view.queue, outcome: view.outcome };
    const behind = await api.turn({ ...asked, after: shown.id });
    const found = behind.trajectory ?? (await api.turn(asked)).trajectory;
    if (found === shown.id) return notice("This is the only one left in this queue.");
    if (behind.trajectory === null && found !== null) notice("The end of the queue: from its start again.");
    change({ trajectory: found, span: null }, "push");
  };
  const save = async () => {
    if (unsaved.length === 0) return;
    const rows = unsaved.map((span) => {
      const word = words.get(span) ?? NO_WORD;
      const given = { blind: !seen.current, seconds: spent.on(span), queue: view.queue };
      const said = own.find((label) => label.span === span);
      return labelRow(shown.id, span, labeller, word, given, said);
    });
    await giveLabels(project, rows);
    setDone(true);
    notice(`${plural(rows.length, "label")} saved.`);
  };
  const act = (what: () => Promise<void>) => {
    if (busy) return;
    setBusy(true);
    what()
      .catch((error: unknown) => notice(`Not done: ${error instanceof Error ? error.message : String(error)}`))
      .finally(() => setBusy(false));
  };
  const ifReady = (what: () => Promise<void>) => {
    const [unsaid] = loose(words);
    if (unsaid !== undefined) notice(`s${unsaid} has a note without a verdict: 1 to 4.`);
    else if (unsaved.length === 0 && !done) notice(NOTHING);
    else act(what);
  };
  return {
    words,
    unsaved,
    done,
    revealed,
    busy,
    seen,
    say: (verdict: Verdict) => {
      if (!at(shown.is_action, selected)) return notice(OBSERVATION);
      spent.note(selected);
      setWords(withVerdict(words, selected, verdict));
    },
    note: (text: string) => setWords(withNote(words, selected, text)),
    finish: () => ifReady(() => save().then(next)),
    look: () => ifReady(() => save().then(() => setRevealed(true))),
    pass: () => act(next),
  };
}

export type Desk = ReturnType<typeof useDesk>;

/** Seconds between one verdict and the one before it, or the opening; by span, added up. */
function useSpent() {
  const [book] = useState(() => ({ last: performance.now(), spans: new Map<number, number>() }));
  return {
    note: (span: number) => {
      const now = performance.now();
      book.spans.set(span, (book.spans.get(span) ?? 0) + (now - book.last) / 1000);
      book.last = now;
    },
    on: (span: number): number | null => {
      const seconds = book.spans.get(span);
      return seconds === undefined ? null : Math.round(10 * seconds) / 10;
    },
  };
}
