import { lazy, useEffect, useMemo, useRef, useState } from "react";
import type { CreditColumns, Run, Trajectory } from "../api";
import { previewColumns, useEditing } from "../editing";
import { useFind } from "../finding";
import { type Bindings, useKeys } from "../keys";
import { offerLink } from "../link";
import { go, useView } from "../location";
import { useBeside } from "../neighbours";
import { copy } from "../notice";
import { AgreementLine } from "../parts/agreement";
import { Details } from "../parts/details";
import { Fetched } from "../parts/fetched";
import { FindBar } from "../parts/find-bar";
import { TRAJECTORY } from "../parts/help";
import { Overview } from "../parts/overview";
import { RailKey } from "../parts/rail";
import type { Column } from "../parts/span-row";
import { useStable } from "../parts/stable";
import { Title, Toolbar } from "../parts/trajectory-bars";
import { Transcript } from "../parts/transcript";
import { Trouble } from "../parts/trouble";
import { type Graph, graphOf, strongest } from "../pure/graph";
import { ANY_TWO, writeGroup } from "../pure/groups";
import { together } from "../pure/hits";
import { lanesOf } from "../pure/lanes";
import { listing, marksOf } from "../pure/marks";
import { edgeKey } from "../pure/rail";
import { defaultRun, named, runName } from "../pure/runs";
import { fullBar, inForce, largest, type Sizes } from "../pure/scale";
import { difference, ranking } from "../pure/stats";
import { exportsPath, FOLDS, groupPath, NO_EXPORT, type View, writeExport, writeView } from "../pure/url";
import { useSheet } from "../sheet";
import "../styles/find.css";
import { inline, visible } from "../pure/visible";
import { useCredits, useEvidence, useGraph, useRuns, useRunsWith, useTrajectory, useWhy } from "../queries";
import { Missing } from "./missing";
import "../styles/edits.css";
import "../styles/cone.css";

const Cone = lazy(() => import("../parts/cone").then((module) => ({ default: module.Cone })));
const EdgeEditor = lazy(() => import("../parts/edge-editor").then((module) => ({ default: module.EdgeEditor })));

interface Props {
  project: string;
  id: string;
}

/** One trajectory: which call was blamed, by which attributor, through which matched values. */
export function TrajectoryView({ project, id }: Props) {
  const trajectory = useTrajectory(project, id);
  const graph = useGraph(project, id);
  const runs = useRuns(project);
  const columns = graph.data;
  const spans = trajectory.data?.kind.length ?? 0;
  const indexed = useMemo(() => (columns ? graphOf(spans, columns) : null), [columns, spans]);
  if (trajectory.error && !trajectory.data) return <Missing error={trajectory.error} what={`trajectory ${id}`} />;
  if (graph.error && !graph.data) return <Missing error={graph.error} what={`the graph of ${id}`} />;
  if (!trajectory.data || !indexed || !runs.data) return <p className="loading">Loading…</p>;
  return <Screen project={project} trajectory={trajectory.data} graph={indexed} runs={runs.data} />;
}

interface ScreenProps {
  project: string;
  trajectory: Trajectory;
  graph: Graph;
  runs: Run[];
}

function Screen({ project, trajectory, graph, runs: newest }: ScreenProps) {
  const [view, change] = useView();
  const [open, setOpen] = useState<"by" | "vs" | null>(null);
  const [pointed, setPointed] = useState<string | null>(null);
  const byName = view.by ?? defaultRun(newest)?.id ?? null;
  const by = useCredits(project, trajectory.id, byName);
  const vs = useCredits(project, trajectory.id, view.vs);
  const runs = useRunsWith(project, newest, [by.data?.run, vs.data?.run]);
  const shown = useColumns(view, runs, by.data, vs.data);
  const byLabel = by.data ? runName(runs, by.data.run, by.data.label) : "";
  const order = useMemo(() => ranking(by.data?.[view.show] ?? []), [by.data, view.show]);
  const chosen = selection(view, trajectory, by.data, order);
  useSheet(TRAJECTORY);
  const find = useFind(project, trajectory.id, view, chosen, change);
  const box = useRef<HTMLInputElement>(null);
  const selected = view.span === null ? (find.hits?.span[find.occ - 1] ?? chosen) : chosen;
  const edges = useListing(project, trajectory, selected);
  const marks = useMemo(() => together(find.marks, marksOf(edges, pointed)), [find.marks, edges, pointed]);
  const path = usePath(project, trajectory, by.data, selected);
  const lanes = useMemo(() => lanesOf(graph), [graph]);
  const editing = useEditing(project, trajectory.id, graph, by.data);
  const seen = view.edit && editing.seen ? previewColumns(editing.seen, byLabel, view.show) : null;
  const [late, setLate] = useState<{ span: number; why: string } | null>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: whoever asks for the cone again gets another try
  useEffect(() => setLate(null), [view.view]);
  const cone = view.view === "cone" && selected !== null && late?.span !== selected;
  useEffect(() => {
    document.title = `${inline(trajectory.external_id)} · trajcredit`;
  }, [trajectory.external_id]);
  const select = (span: number | "none") => editing.picked(span) || change({ span });
  const toExport =
    exportsPath(project) + writeExport({ ...NO_EXPORT, run: by.data?.run ?? byName, trajectory: trajectory.id });
  const toGroup = groupPath(project, trajectory.group_id) + writeGroup({ ...ANY_TWO, by: view.by, a: trajectory.id });
  const exact = useStable(() => linkOf(view, selected, by.data, vs.data));
  useEffect(() => offerLink(exact), [exact]);
  const link = () => copy(exact(), "Link to this view copied.");
  const beside = useBeside(project, trajectory.id, view);
  useKeys({
    ...useWalk(graph, selected, order, select),
    b: () => setOpen("by"),
    "Shift+B": () => setOpen("vs"),
    d: () => view.vs !== null && change({ diff: !view.diff }),
    v: () => change({ view: view.view === "cone" ? "rail" : "cone" }),
    f: () => change({ fold: view.fold.length > 0 ? [] : [...FOLDS] }),
    e: () => go(toExport),
    g: () => go(toGroup),
    y: () => void link(),
    "/": () => box.current?.focus(),
    "Shift+/": () => box.current?.focus(),
    n: () => find.go(1),
    "Shift+N": () => find.go(-1),
    "Shift+J": () => void beside(1),
    "Shift+K": () => void beside(-1),
  });
  return (
    <main className="screen">
      <Title
        trajectory={trajectory}
        toExport={toExport}
        toGroup={toGroup}
        onReport={() => select("none")}
        onLink={() => void link()}
      />
      <Toolbar
        {...{ project, runs, view, change, open, setOpen }}
        byRun={named(runs, byName)?.id ?? by.data?.run ?? null}
        vsRun={named(runs, view.vs)?.id ?? vs.data?.run ?? null}
        scale={shown.scale}
        hasDataset={inForce("dataset", shown.sizes) === "dataset"}
      />
      <div className="headlines">
        {byName === null && <p className="headline">Not scored yet: choose “by” and score now.</p>}
        <Headline
          {...{ runs, name: byName, credits: by.data, error: by.error, better: defaultRun(runs) }}
          onBetter={(run) => change({ by: run }, "push")}
          onScore={() => setOpen("by")}
        />
        {view.vs !== null && (
          <Headline {...{ runs, name: view.vs, credits: vs.data, error: vs.error }} onScore={() => setOpen("vs")} />
        )}
        {view.view === "cone" && !cone && (
          <p className="conenotice" role="status">
            {late === null || selected === null
              ? "Cone: select a span to see what it rests on and what rests on it."
              : `The cone of s${selected} is not drawn: ${late.why}. The rail stays.`}
          </p>
        )}
        {by.data && vs.data && (
          <AgreementLine {...{ project, runs }} trajectory={trajectory.id} by={by.data} vs={vs.data} show={view.show} />
        )}
      </div>
      <div className="split">
        <div className={cone ? "drawn withcone" : "drawn"}>
          {cone && (
            <Fetched waiting={<p className="loading">Loading…</p>}>
              <Cone
                {...{ project, trajectory, graph, path }}
                span={selected}
                credit={by.data?.[view.show] ?? []}
                run={byLabel}
                onSelect={select}
                onGiveUp={(why) => setLate({ span: selected, why })}
              />
            </Fetched>
          )}
          <Transcript
            {...{ project, trajectory, graph, lanes, selected, marks, path }}
            edits={editing.rail}
            rail={!cone}
            columns={seen?.columns ?? shown.columns}
            full={seen?.full ?? shown.full}
            exactZero={!seen && !view.diff && by.data?.law === "mask"}
            fold={view.fold}
            find={
              <FindBar
                {...{ box, q: view.q, hits: find.hits, occ: find.occ, busy: find.busy, error: find.error }}
                onSearch={(q) => change({ q, occ: 0 })}
                onGo={find.go}
              />
            }
            hits={find.hits}
            occ={find.occ}
            named={find.names}
            onSelect={select}
          />
        </div>
        <aside className="panel" aria-label="Details">
          {view.edit ? (
            <Fetched waiting={<p className="loading">Loading…</p>}>
              <EdgeEditor
                {...{ project, trajectory, editing }}
                span={selected}
                run={runs.find((run) => run.id === by.data?.run) ?? null}
                show={view.show}
                onSelect={select}
                onRan={(run) => change({ by: run, vs: by.data?.run ?? null, edit: false })}
                onClose={() => {
                  change({ edit: false });
                  requestAnimationFrame(() => document.querySelector<HTMLElement>(".editedges")?.focus());
                }}
              />
            </Fetched>
          ) : selected === null ? (
            <Overview {...{ project, trajectory }} credits={by.data} run={byLabel} onSelect={select} />
          ) : (
            <Details
              {...{ project, trajectory, pointed }}
              span={selected}
              credits={by.data}
              run={byLabel}
              listing={edges}
              removed={(editing.saved?.in_force ?? []).filter((one) => one.saying.action === "remove")}
              show={view.show}
              onPoint={setPointed}
              onSelect={select}
              onClose={() => select("none")}
              onEdit={() => change({ edit: true, span: selected })}
            />
          )}
          <RailKey edited={view.edit || (editing.saved?.in_force.length ?? 0) > 0} />
        </aside>
      </div>
    </main>
  );
}

/** The span that is looked at: the URL's; where it names none, the first one that the run tells apart. */
function selection(view: View, trajectory: Trajectory, by: CreditColumns | undefined, order: number[]): number | null {
  if (view.span === "none") return null;
  if (view.span !== null) return view.span < trajectory.kind.length ? view.span : null;
  return by && by.law !== "flat" ? (order[0] ?? null) : null;
}

function useColumns(view: View, runs: Run[], by: CreditColumns | undefined, vs: CreditColumns | undefined) {
  return useMemo(() => {
    const found = [by, view.vs === null ? undefined : vs].filter((credits) => credits !== undefined);
    const sizes = found.map((credits) => sizesOf(credits, view.show));
    const scale = inForce(view.scale, sizes);
    const full = fullBar(scale, sizes);
    const named = found.map(
      (credits, i): Column => ({
        key: String(i),
        label: runName(runs, credits.run, credits.label),
        values: credits[view.show],
      }),
    );
    const [a, b] = named;
    if (view.diff && a && b) {
      const values = difference(a.values, b.values);
      const one: Column = { key: "difference", label: `${a.label} − ${b.label}`, values };
      return { columns: [one], full: scale === "trajectory" ? Math.max(full, largest([values])) : full, scale, sizes };
    }
    return { columns: a ? named : [{ key: "none", label: "no run", values: [] }], full, scale, sizes };
  }, [view.vs, view.show, view.scale, view.diff, runs, by, vs]);
}

function sizesOf(credits: CreditColumns, show: View["show"]): Sizes {
  if (show === "credit") return { trajectory: credits.scale, dataset: credits.dataset_scale };
  return { trajectory: credits.advantage_scale, dataset: credits.dataset_advantage_scale };
}

/** The edges at a span, and those of the result that goes with a call or the call that goes with a result. */
function useListing(project: string, trajectory: Trajectory, span: number | null) {
  const beside = span === null ? null : partner(trajectory, span);
  const own = useEvidence(project, trajectory.id, span);
  const other = useEvidence(project, trajectory.id, beside);
  return useMemo(() => {
    if (span === null || !own.data) return { fedBy: [], feeds: [] };
    const isResult = trajectory.kind[span] === "tool_call";
    return listing(own.data, beside !== null && other.data ? { span: beside, isResult, evidence: other.data } : null);
  }, [span, beside, own.data, other.data, trajectory]);
}

function partner(trajectory: Trajectory, span: number): number | null {
  if (trajectory.kind[span] === "tool_result") return trajectory.result_of[span] ?? null;
  if (trajectory.kind[span] !== "tool_call") return null;
  const result = trajectory.result_of.indexOf(span, span + 1);
  return result < 0 ? null : result;
}

function usePath(project: string, trajectory: Trajectory, by: CreditColumns | undefined, span: number | null) {
  const asked = span !== null && trajectory.is_action[span] ? (by?.run ?? null) : null;
  const why = useWhy(project, trajectory.id, asked, span ?? 0).data;
  return useMemo(
    () => new Set((asked === null ? [] : (why?.path ?? [])).map((step) => edgeKey(step.parent, step.child))),
    [asked, why],
  );
}

/** Moving among spans by keys; `u` and `i` leave a trail that Backspace follows back. */
function useWalk(
  graph: Graph,
  selected: number | null,
  order: number[],
  select: (span: number | "none") => void,
): Bindings {
  const trail = useRef<number[]>([]);
  const step = (by: number) => select(Math.max(0, Math.min(graph.n - 1, selected === null ? 0 : selected + by)));
  const rank = (by: number) => {
    const here = selected === null ? -1 : order.indexOf(selected);
    const next = order[here < 0 ? 0 : Math.max(0, Math.min(order.length - 1, here + by))];
    if (next !== undefined) select(next);
  };
  const follow = (direction: "parent" | "child") => {
    const next = selected === null ? null : strongest(graph, selected, direction);
    if (selected === null || next === null) return;
    trail.current.push(selected);
    select(next);
  };
  const back = () => {
    const last = trail.current.pop();
    if (last !== undefined) select(last);
  };
  useEffect(() => {
    if (selected === null) trail.current = [];
  }, [selected]);
  return {
    j: () => step(1),
    k: () => step(-1),
    "]": () => rank(1),
    "[": () => rank(-1),
    u: () => follow("parent"),
    i: () => follow("child"),
    Backspace: back,
    Escape: () => select("none"),
  };
}

/** The view with its runs named by id, so that the link shows the same numbers after the next run too. */
function linkOf(view: View, selected: number | null, by: CreditColumns | undefined, vs: CreditColumns | undefined) {
  const exact: View = {
    ...view,
    span: selected ?? "none",
    by: by?.run ?? view.by,
    vs: view.vs === null ? null : (vs?.run ?? view.vs),
  };
  return location.origin + location.pathname + writeView(exact);
}

interface HeadlineProps {
  runs: Run[];
  credits: CreditColumns | undefined;
  error: Error | null;
  name: string | null;
  /** A run that may tell more, offered where this one is flat. */
  better?: Run | null;
  onBetter?: (run: string) => void;
  /** Opens what starts a new run. */
  onScore: () => void;
}

function Headline({ runs, credits, error, name, better, onBetter, onScore }: HeadlineProps) {
  if (error && !credits) return <Trouble error={error} what={`run ${inline(name ?? "")}`} />;
  if (!credits) return null;
  return (
    <p className="headline">
      <b>{inline(runName(runs, credits.run, credits.label))}</b> {visible(credits.headline)}{" "}
      {credits.law === "flat" && better && better.id !== credits.run && (
        <button type="button" onClick={() => onBetter?.(better.id)}>
          look with {inline(runName(runs, better.id, better.label))}
        </button>
      )}
      {credits.stale && <span className="stale">· Stale: {staleness(runs, credits.run)}.</span>}{" "}
      {(credits.stale || credits.credit.every((value) => value === null)) && (
        <button type="button" onClick={onScore}>
          score again
        </button>
      )}
    </p>
  );
}

function staleness(runs: Run[], id: string): string {
  return inline(runs.find((run) => run.id === id)?.stale_reason ?? "something changed after it");
}
