import { useMemo, useRef, useState } from "react";
import { api, type Trajectory, type Turn } from "../api";
import { useKeys } from "../keys";
import { giveLabels, useLabels } from "../label-queries";
import { notice } from "../notice";
import { useBlind } from "../preferences";
import { number, plural } from "../pure/format";
import { at, type Graph, graphOf } from "../pure/graph";
import {
  changed,
  type LabelView,
  loose,
  VERDICT_WORDS,
  VERDICTS,
  type Verdict,
  type Words,
  withNote,
  withVerdict,
  wordsOf,
} from "../pure/labels";
import { lanesOf } from "../pure/lanes";
import { listing, marksOf } from "../pure/marks";
import { defaultRun, runName } from "../pure/runs";
import { PLAIN, trajectoryPath, writeView } from "../pure/url";
import { inline, visible } from "../pure/visible";
import { spokenKind } from "../pure/words";
import { useCredits, useEvidence, useGraph, useRuns, useTrajectory } from "../queries";
import type { ChangeLabels } from "../views/labels";
import { Missing } from "../views/missing";
import { Go } from "./go";
import { Help, type Key } from "./help";
import { SpanLink } from "./span-link";
import type { Column } from "./span-row";
import { Transcript } from "./transcript";
import { NoteField, Verdicts } from "./verdicts";

const KEYS: Key[] = [
  ["j  k", "next, previous span"],
  ["]  [", "next, previous span that can be labelled"],
  ["1 – 4", "culprit, contributed, innocent, can’t tell; again: take it back"],
  ["m", "a note on it; Enter leaves the note"],
  ["s", "save, and on to the next rollout"],
  ["S", "save, and show what the newest run says"],
  ["x", "pass over this rollout"],
  ["f", "fold reasoning and results"],
  ["?", "this sheet"],
];

interface Props {
  project: string;
  labeller: string;
  trajectory: string;
  view: LabelView;
  change: ChangeLabels;
  turn: Turn | undefined;
}

/** One rollout to label; once its text is here, the credit stays away until the labels are saved. */
export function Sitting(props: Props) {
  const { project, trajectory: id } = props;
  const trajectory = useTrajectory(project, id);
  const graph = useGraph(project, id);
  const saved = useLabels(project, id);
  const spans = trajectory.data?.kind.length ?? 0;
  const indexed = useMemo(() => (graph.data ? graphOf(spans, graph.data) : null), [graph.data, spans]);
  const error = trajectory.error ?? graph.error ?? saved.error;
  if (error && !(trajectory.data && graph.data && saved.data))
    return <Missing error={error} what={`trajectory ${id}`} />;
  if (!trajectory.data || !indexed || !saved.data) return <p className="loading">Loading…</p>;
  return <Desk {...props} shown={trajectory.data} graph={indexed} saved={wordsOf(saved.data, props.labeller)} />;
}

type DeskProps = Props & { shown: Trajectory; graph: Graph; saved: Words };

function Desk({ project, labeller, view, change, turn, shown, graph, saved }: DeskProps) {
  const blind = useBlind();
  const [words, setWords] = useState<Words>(saved);
  const [done, setDone] = useState(false);
  const [revealed, setRevealed] = useState(false);
  const [fold, setFold] = useState(false);
  const [help, setHelp] = useState(false);
  const [busy, setBusy] = useState(false);
  const open = !blind || revealed;
  const seen = useRef(false);
  const spent = useSpent();
  const field = useRef<HTMLInputElement>(null);
  const lanes = useMemo(() => lanesOf(graph), [graph]);
  const columns = useColumns(project, shown, open);
  if (columns.columns.length > 0) seen.current = true;
  const selected = view.span !== null && view.span < shown.kind.length ? view.span : firstAction(shown);
  const evidence = useEvidence(project, shown.id, selected).data;
  const marks = useMemo(() => marksOf(evidence ? listing(evidence, null) : { fedBy: [], feeds: [] }, null), [evidence]);
  const select = (span: number) => change({ span });
  const isAction = at(shown.is_action, selected);
  const unsaved = changed(words, saved);

  const say = (verdict: Verdict) => {
    if (!isAction) return notice("An observation: only what the policy wrote gets a verdict.");
    spent.note(selected);
    setWords(withVerdict(words, selected, verdict));
  };
  const next = async () => {
    const asked = { project, labeller, queue: view.queue, outcome: view.outcome };
    const behind = await api.turn({ ...asked, after: shown.id });
    const found = behind.trajectory ?? (await api.turn(asked)).trajectory;
    if (found === shown.id) return notice("This is the only one left in this queue.");
    if (behind.trajectory === null && found !== null) notice("The end of the queue: from its start again.");
    change({ trajectory: found, span: null }, "push");
  };
  const save = async () => {
    const rows = unsaved.map((span) => ({
      trajectory_id: shown.id,
      span_index: span,
      verdict: words.get(span)?.verdict ?? null,
      labeller,
      note: words.get(span)?.note.trim() || null,
      blind: !seen.current,
      seconds: spent.on(span),
      queue: view.queue,
    }));
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
  const ready = () => {
    if (loose(words).length > 0) {
      notice(`s${loose(words)[0]} has a note without a verdict: 1 to 4.`);
      return false;
    }
    if (unsaved.length > 0 || done) return true;
    notice("Nothing to save yet: 1 to 4 on a span says what it was; x passes over.");
    return false;
  };
  const finish = () => ready() && act(async () => (unsaved.length > 0 ? save().then(next) : next()));
  const look = () =>
    ready() &&
    act(async () => {
      if (unsaved.length > 0) await save();
      setRevealed(true);
    });
  const step = (by: number) => select(Math.max(0, Math.min(shown.kind.length - 1, selected + by)));
  const stepAction = (by: 1 | -1) => {
    for (let span = selected + by; span >= 0 && span < shown.kind.length; span += by)
      if (shown.is_action[span]) return select(span);
  };
  useKeys({
    j: () => step(1),
    k: () => step(-1),
    "]": () => stepAction(1),
    "[": () => stepAction(-1),
    ...Object.fromEntries(VERDICTS.map((verdict, i) => [String(i + 1), () => say(verdict)])),
    m: () => field.current?.focus(),
    s: finish,
    "Shift+S": look,
    x: () => act(next),
    f: () => setFold(!fold),
    "?": () => setHelp(true),
    "Shift+?": () => setHelp(true),
  });
  return (
    <>
      <div className="headlines">
        <p className="headline">
          <b>{inline(shown.external_id)}</b>{" "}
          {shown.outcome === null ? "no reward yet" : `reward ${number(shown.outcome)}`}
          {turn?.trajectory === shown.id && <span className="muted"> · next because {visible(turn.why)}</span>}
        </p>
      </div>
      <div className={`split${columns.columns.length === 0 ? " blind" : ""}`}>
        <Transcript
          {...{ project, graph, lanes, selected, marks }}
          trajectory={shown}
          path={NO_PATH}
          columns={columns.columns}
          full={columns.full}
          exactZero={false}
          fold={fold ? ["think", "result"] : []}
          onSelect={select}
        />
        <aside className="panel" aria-label="Verdicts">
          <header className="panelhead">
            <h2>
              <span className="no">s{selected}</span> {spokenKind(at(shown.kind, selected), shown.name[selected])}
            </h2>
            <button type="button" aria-label="keys" onClick={() => setHelp(true)}>
              ?
            </button>
          </header>
          {isAction ? (
            <section aria-label="Verdict">
              <Verdicts said={words.get(selected)?.verdict ?? null} onSay={say} />
              <NoteField
                field={field}
                note={words.get(selected)?.note ?? ""}
                onNote={(note) => setWords(withNote(words, selected, note))}
              />
            </section>
          ) : (
            <p className="muted">An observation: only what the policy wrote gets a verdict.</p>
          )}
          <Given words={words} unsaved={unsaved} onSelect={select} />
          <div className="saving">
            <button type="button" className="primary" disabled={busy} onClick={finish}>
              {done && unsaved.length === 0 ? "Next" : "Save and next"}{" "}
              <span className="key" aria-hidden="true">
                s
              </span>
            </button>
            {!open && (
              <button type="button" disabled={busy} onClick={look}>
                Save and show the credit{" "}
                <span className="key" aria-hidden="true">
                  S
                </span>
              </button>
            )}
            <button type="button" className="quiet" disabled={busy} onClick={() => act(next)}>
              Pass over{" "}
              <span className="key" aria-hidden="true">
                x
              </span>
            </button>
          </div>
          <Blindness seen={columns.columns.length > 0 || seen.current} saved={done} run={columns.run} />
          {open && (
            <p>
              <Go to={trajectoryPath(project, shown.id) + writeView({ ...PLAIN, span: selected })}>
                Why it has this credit
              </Go>
            </p>
          )}
        </aside>
      </div>
      {help && <Help onClose={() => setHelp(false)} keys={KEYS} />}
    </>
  );
}

const NO_PATH: ReadonlySet<string> = new Set();

function firstAction(shown: Trajectory): number {
  return Math.max(0, shown.is_action.indexOf(true));
}

/** The newest run's column where credit may be seen. */
function useColumns(project: string, shown: Trajectory, open: boolean) {
  const runs = useRuns(project).data ?? [];
  const run = open ? (defaultRun(runs)?.id ?? null) : null;
  const credits = useCredits(project, shown.id, run).data;
  return useMemo(() => {
    if (!credits || run === null) return { columns: [] as Column[], full: 0, run: null };
    const label = runName(runs, credits.run, credits.label);
    return { columns: [{ key: "0", label, values: credits.credit }], full: credits.scale, run: label };
  }, [credits, run, runs]);
}

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

interface GivenProps {
  words: Words;
  unsaved: number[];
  onSelect: (span: number) => void;
}

/** The verdicts on this rollout, those that are not saved yet marked. */
function Given({ words, unsaved, onSelect }: GivenProps) {
  const said = [...words].filter(([span, word]) => word.verdict !== null || unsaved.includes(span));
  if (said.length === 0) return <p className="muted">No verdict yet. Most rollouts have one culprit.</p>;
  return (
    <ul className="labelled" aria-label="Verdicts on this rollout">
      {said
        .sort(([a], [b]) => a - b)
        .map(([span, word]) => (
          <li key={span}>
            <SpanLink span={span} onSelect={onSelect} />{" "}
            {word.verdict === null ? (
              <span className="muted">taken back</span>
            ) : (
              <b className={`verdictword ${word.verdict}`}>{VERDICT_WORDS[word.verdict]}</b>
            )}
            {word.note.trim() && <>: {visible(word.note)}</>}
            {unsaved.includes(span) && <span className="muted"> · not saved</span>}
          </li>
        ))}
    </ul>
  );
}

function Blindness({ seen, saved, run }: { seen: boolean; saved: boolean; run: string | null }) {
  if (saved && run !== null)
    return <p className="muted small">Saved. Bars: {inline(run)}; changes count as not blind.</p>;
  return (
    <p className="muted small">
      {seen
        ? "The credit of this rollout was shown: labels count as not blind."
        : "The credit is hidden until you have saved: labels count as blind."}
    </p>
  );
}
