import { useMemo, useRef, useState } from "react";
import type { Label, Trajectory, Turn } from "../api";
import { type ChangeLabels, useDesk } from "../desk";
import { useKeys } from "../keys";
import { useLabels } from "../label-queries";
import { useBlind } from "../preferences";
import { number } from "../pure/format";
import { type Graph, graphOf } from "../pure/graph";
import { type LabelView, VERDICTS } from "../pure/labels";
import { lanesOf } from "../pure/lanes";
import { listing, marksOf } from "../pure/marks";
import { NO_EDITS } from "../pure/rail";
import { defaultRun, runName } from "../pure/runs";
import { inline, visible } from "../pure/visible";
import { useCredits, useEvidence, useGraph, useRuns, useTrajectory } from "../queries";
import { type Key, showSheet, useSheet } from "../sheet";
import { Missing } from "../views/missing";
import { SittingPanel } from "./sitting-panel";
import type { Column } from "./span-row";
import { Transcript } from "./transcript";

const KEYS: Key[] = [
  ["j  k", "next, previous span"],
  ["]  [", "next, previous span that can be labelled"],
  ["1 – 4", "culprit, contributed, innocent, can’t tell; again: take it back"],
  ["m", "a note on it; Enter leaves the note"],
  ["s", "save, and on to the next rollout"],
  ["S", "save, and show what the newest run says"],
  ["x", "pass over this rollout"],
  ["f", "fold reasoning and results"],
];
const SHEET = { title: "Labels", keys: KEYS };

interface Props {
  project: string;
  labeller: string;
  trajectory: string;
  view: LabelView;
  change: ChangeLabels;
  turn: Turn | undefined;
}

/** One rollout to label: its text, and no credit until the labels are saved. */
export function Sitting(props: Props) {
  const { project, trajectory: id } = props;
  const trajectory = useTrajectory(project, id);
  const graph = useGraph(project, id);
  const saved = useLabels(project, id);
  const spans = trajectory.data?.kind.length ?? 0;
  const indexed = useMemo(() => (graph.data ? graphOf(spans, graph.data) : null), [graph.data, spans]);
  const error = trajectory.error ?? graph.error ?? saved.error;
  if (error && !(trajectory.data && graph.data && saved.data)) {
    return <Missing error={error} what={`trajectory ${id}`} />;
  }
  if (!trajectory.data || !indexed || !saved.data) return <p className="loading">Loading…</p>;
  return (
    <Table
      {...props}
      shown={trajectory.data}
      graph={indexed}
      own={saved.data.filter(({ labeller }) => labeller === props.labeller)}
    />
  );
}

type TableProps = Props & { shown: Trajectory; graph: Graph; own: Label[] };

function Table({ project, labeller, view, change, turn, shown, graph, own }: TableProps) {
  const blind = useBlind();
  const [fold, setFold] = useState(false);
  useSheet(SHEET);
  const note = useRef<HTMLInputElement>(null);
  const selected = view.span !== null && view.span < shown.kind.length ? view.span : firstAction(shown);
  const desk = useDesk({ project, labeller, view, change, shown, own, selected });
  const { columns, full, run } = useColumns(project, shown, !blind || desk.revealed);
  if (run !== null) desk.seen.current = true;
  const lanes = useMemo(() => lanesOf(graph), [graph]);
  const evidence = useEvidence(project, shown.id, selected).data;
  const marks = useMemo(() => marksOf(evidence ? listing(evidence, null) : { fedBy: [], feeds: [] }, null), [evidence]);
  const select = (span: number) => change({ span });
  useKeys({
    ...walk(shown, selected, select),
    ...Object.fromEntries(VERDICTS.map((verdict, i) => [String(i + 1), () => desk.say(verdict)])),
    m: () => note.current?.focus(),
    s: desk.finish,
    "Shift+S": desk.look,
    x: desk.pass,
    f: () => setFold(!fold),
  });
  return (
    <>
      <div className="headlines">
        <p className="headline">
          <b>{inline(shown.external_id)}</b>{" "}
          {shown.outcome === null ? "no reward yet" : `reward ${number(shown.outcome)}`}
          {turn?.trajectory === shown.id && <span className="muted"> · {visible(turn.why)}</span>}
        </p>
      </div>
      <div className={`split${columns.length === 0 ? " blind" : ""}`}>
        <Transcript
          {...{ project, graph, lanes, selected, marks, columns, full }}
          trajectory={shown}
          path={NO_PATH}
          edits={NO_EDITS}
          rail
          exactZero={false}
          fold={fold ? ["think", "result"] : []}
          onSelect={select}
        />
        <SittingPanel
          {...{ project, shown, selected, desk, run, note }}
          onSelect={select}
          onHelp={() => showSheet(true)}
        />
      </div>
    </>
  );
}

const NO_PATH: ReadonlySet<string> = new Set();

function firstAction(shown: Trajectory): number {
  return Math.max(0, shown.is_action.indexOf(true));
}

/** Moving among spans; brackets stop at those that can be labelled. */
function walk(shown: Trajectory, selected: number, select: (span: number) => void) {
  const last = shown.kind.length - 1;
  const step = (by: number) => select(Math.max(0, Math.min(last, selected + by)));
  const stepAction = (by: 1 | -1) => {
    let span = selected + by;
    while (span >= 0 && span <= last && !shown.is_action[span]) span += by;
    if (span >= 0 && span <= last) select(span);
  };
  return { j: () => step(1), k: () => step(-1), "]": () => stepAction(1), "[": () => stepAction(-1) };
}

/** The column of the run that the trajectory's own screen begins with, where credit may be seen. */
function useColumns(project: string, shown: Trajectory, open: boolean) {
  const runs = useRuns(project).data;
  const asked = open ? (defaultRun(runs ?? [])?.id ?? null) : null;
  const credits = useCredits(project, shown.id, asked).data;
  return useMemo(() => {
    if (!credits || !runs || asked === null) return { columns: [] as Column[], full: 0, run: null };
    const label = runName(runs, credits.run, credits.label);
    return { columns: [{ key: "0", label, values: credits.credit }], full: credits.scale, run: label };
  }, [credits, asked, runs]);
}
