import { useInfiniteQuery } from "@tanstack/react-query";
import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useRef, useState } from "react";
import { useSearch } from "wouter/use-browser-location";
import { api, type Run } from "../api";
import { useKeys } from "../keys";
import { go } from "../location";
import { Go } from "../parts/go";
import { ROWS } from "../parts/help";
import { RunActions } from "../parts/run-actions";
import { RunState } from "../parts/run-state";
import { ScoreNow } from "../parts/score-now";
import { Trouble } from "../parts/trouble";
import { duration } from "../pure/duration";
import { count, plural, when } from "../pure/format";
import { readNewRun } from "../pure/judges";
import { listPath, runPath } from "../pure/url";
import { inline } from "../pure/visible";
import { running } from "../queries";
import { useSheet } from "../sheet";
import "../styles/runs.css";

const PAGE = 50;
const HEIGHT = 54;

/** All runs of a project, newest first: how far they are, what they read, whether they are out of date. */
export function RunsView({ project }: { project: string }) {
  const begin = readNewRun(useSearch());
  const [asking, setAsking] = useState(begin !== null);
  const pages = useInfiniteQuery({
    queryKey: ["runs", project, "pages"],
    queryFn: ({ signal, pageParam }) => api.runsPage(project, pageParam, PAGE, signal),
    initialPageParam: "",
    getNextPageParam: (page) => page.next || undefined,
    refetchInterval: (query) => (query.state.data?.pages.some((page) => page.items.some(running)) ? 1000 : false),
  });
  const rows = pages.data?.pages.flatMap((page) => page.items) ?? [];
  useSheet(ROWS);
  useKeys({ j: () => moveFocus(1), k: () => moveFocus(-1) });
  if (pages.error && !pages.data) return <Trouble error={pages.error} what="the runs" />;
  if (!pages.data) return <p className="loading">Loading…</p>;
  return (
    <main className="listpage runs">
      <h1 className="hidden">Runs</h1>
      <div className="toolbar">
        <button type="button" className="primary" aria-expanded={asking} onClick={() => setAsking(!asking)}>
          New run
        </button>
        <span className="muted">A run is one attributor with its parameters over the trajectories of the project.</span>
        <span className="end" role="status">
          {plural(rows.length, "run")}
          {pages.hasNextPage && ", more below"}
        </span>
      </div>
      {asking && (
        <div className="newrun">
          <ScoreNow {...{ project, begin }} onStarted={(run) => go(runPath(project, run))} onScored={() => undefined} />
        </div>
      )}
      {rows.length === 0 ? (
        <NoRun project={project} />
      ) : (
        <Table
          {...{ project, rows }}
          more={pages.hasNextPage && !pages.isFetching}
          onMore={() => void pages.fetchNextPage()}
        />
      )}
    </main>
  );
}

function NoRun({ project }: { project: string }) {
  return (
    <div className="nomatch">
      <p>
        No run yet. Score the <Go to={listPath(project)}>trajectories</Go> with “New run”.
      </p>
    </div>
  );
}

function moveFocus(by: 1 | -1): void {
  const links = [...document.querySelectorAll<HTMLElement>(".rows .cover")];
  const here = links.indexOf(document.activeElement as HTMLElement);
  links[Math.max(0, Math.min(links.length - 1, here + by))]?.focus();
}

const HEADS = ["run", "state", "reward", "group by", "data set", "critic", "notes", "created", "took", ""];

interface TableProps {
  project: string;
  rows: Run[];
  more: boolean;
  onMore: () => void;
}

function Table({ project, rows, more, onMore }: TableProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => HEIGHT,
    overscan: 6,
  });
  const items = virtual.getVirtualItems();
  const last = items.at(-1)?.index ?? 0;
  useEffect(() => {
    if (more && last >= rows.length - 10) onMore();
  });
  return (
    <div className="table" role="table" aria-label="Runs">
      <div role="rowgroup">
        {/* biome-ignore lint/a11y/useFocusableInteractive: the links in the rows are what is operated */}
        <div className="tr th" role="row">
          {HEADS.map((head) => (
            // biome-ignore lint/a11y/useFocusableInteractive: a plain header
            <span key={head} role="columnheader">
              {head || <span className="hidden">what can be done</span>}
            </span>
          ))}
        </div>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolled region needs the keyboard */}
      <div className="scroll" ref={scroller} role="rowgroup" tabIndex={0} aria-label="rows">
        <div className="rows" role="presentation" style={{ height: virtual.getTotalSize() }}>
          {items.map(({ index, start }) => {
            const run = rows[index];
            return run && <Row key={run.id} {...{ project, run, start }} />;
          })}
        </div>
      </div>
    </div>
  );
}

function Row({ project, run, start }: { project: string; run: Run; start: number }) {
  const name = `${run.label} #${run.number}`;
  return (
    // biome-ignore lint/a11y/useFocusableInteractive: its link is what is operated
    <div className="tr" role="row" style={{ transform: `translateY(${start}px)` }}>
      <span role="cell" className="named">
        <Go to={runPath(project, run.id)} className="cover" title={inline(name)}>
          {inline(name)}
        </Go>
        <Said run={run} />
      </span>
      <span role="cell">
        <RunState run={run} />
      </span>
      <span role="cell">{reward(run) ?? <Nothing>the first there is</Nothing>}</span>
      <span role="cell">{run.group_by === null ? <Nothing>as logged</Nothing> : inline(run.group_by)}</span>
      <span role="cell" title={inline(run.dataset ?? "")}>
        {run.dataset === null ? <Nothing>all</Nothing> : inline(run.dataset)}
      </span>
      <span role="cell">{run.critic === null ? <Nothing>none</Nothing> : inline(run.critic)}</span>
      <span role="cell" className="figure">
        {run.notes.length > 0 ? count(run.notes.length) : <Nothing>0</Nothing>}
      </span>
      <span role="cell" className="muted">
        {when(run.created)}
      </span>
      <span role="cell" className="figure muted">
        {duration(run.started, run.finished) ?? "–"}
      </span>
      <span role="cell" className="action">
        <RunActions {...{ project, run, name }} />
      </span>
    </div>
  );
}

/** What a reader must know before he trusts its numbers. */
function Said({ run }: { run: Run }) {
  const text = run.error ?? (run.stale ? `stale: ${run.stale_reason ?? "something changed after it"}` : null);
  if (text === null) return null;
  return (
    <span className="said trouble" title={inline(text)}>
      {inline(text)}
    </span>
  );
}

function Nothing({ children }: { children: string }) {
  return <span className="muted">{children}</span>;
}

/** Whose rewards it read. */
export function reward(run: Run): string | null {
  const source = run.reward_source?.replace("_", " ") ?? null;
  if (run.reward_name === null) return source;
  return `${source ?? "any source"}, called ${inline(run.reward_name)}`;
}
