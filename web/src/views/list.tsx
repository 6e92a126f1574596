import { useInfiniteQuery } from "@tanstack/react-query";
import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useRef, useState } from "react";
import { api, type ListQuery, type TrajectoryRow } from "../api";
import { useKeys } from "../keys";
import { go, useList } from "../location";
import { remember } from "../neighbours";
import { notice } from "../notice";
import { EmptyList, NoMatch } from "../parts/empty";
import { Filters } from "../parts/filters";
import { Go } from "../parts/go";
import { TRAJECTORIES } from "../parts/help";
import { LongName } from "../parts/long-name";
import { RunChooser } from "../parts/run-chooser";
import { Strip } from "../parts/strip";
import { Trouble } from "../parts/trouble";
import { count, number, signed, when } from "../pure/format";
import { ANY_TWO, writeGroup } from "../pure/groups";
import { shownName } from "../pure/name";
import { defaultRun, named } from "../pure/runs";
import {
  exportsPath,
  groupPath,
  type ListView,
  NO_EXPORT,
  PLAIN,
  type Sort,
  trajectoryPath,
  writeExport,
  writeView,
} from "../pure/url";
import { inline } from "../pure/visible";
import { spanName } from "../pure/words";
import { useRuns } from "../queries";
import { useSheet } from "../sheet";

const FLAGS = new Set(["errors", "no_group", "zero_variance", "labelled"]);
const NUMBERS = new Set(["outcome_min", "outcome_max", "step_min", "step_max"]);

/** The URL's filters as the API takes them; a number that is not one is left out. */
function queryOf(project: string, { filters, sort }: ListView, run: string | null): ListQuery {
  const given = Object.entries(filters).flatMap(([name, value]): [string, string | number | boolean][] => {
    if (FLAGS.has(name)) return [[name, value === "true"]];
    if (!NUMBERS.has(name)) return [[name, value]];
    return Number.isFinite(Number(value)) ? [[name, Number(value)]] : [];
  });
  return { ...Object.fromEntries(given), project, sort, ...(run ? { run } : {}) };
}

/** All trajectories of a project, with what one run says of each. */
export function TrajectoryList({ project }: { project: string }) {
  const [list, change] = useList();
  const [open, setOpen] = useState(false);
  const runs = useRuns(project);
  const run = list.run ?? defaultRun(runs.data ?? [])?.id ?? null;
  const query = queryOf(project, list, run);
  const pages = useInfiniteQuery({
    queryKey: ["list", query],
    queryFn: ({ signal, pageParam }) => api.list({ ...query, ...(pageParam ? { cursor: pageParam } : {}) }, signal),
    initialPageParam: "",
    getNextPageParam: (page) => page.next || undefined,
    enabled: runs.data !== undefined || runs.error !== null,
    placeholderData: (before) => before,
  });
  useEffect(() => remember(query));
  useSheet(TRAJECTORIES);
  const toExport = exportsPath(project) + writeExport({ ...NO_EXPORT, run: list.run });
  const first = pages.data?.pages[0];
  const rows = pages.data?.pages.flatMap((page) => page.items) ?? [];
  const selection = useSelection(rows);
  const toGroup = (row: TrajectoryRow, a: string, b: string | null = null) =>
    groupPath(project, row.group_id) + writeGroup({ ...ANY_TWO, by: list.run, a, b });
  const compare = () => {
    const [a, b] = selection.rows;
    if (!a || !b) notice("Select two rows with x, then c compares them.");
    else if (a.group_id === b.group_id) go(toGroup(a, a.id, b.id));
    else
      notice(`Not of one group: ${inline(a.group)} and ${inline(b.group)}. Only rollouts of one group are compared.`);
  };
  useKeys({
    j: () => moveFocus(1),
    k: () => moveFocus(-1),
    e: () => go(toExport),
    x: () => selection.toggle(focused(rows)),
    c: compare,
    g: () => {
      const row = focused(rows);
      if (row) go(toGroup(row, row.id));
      else notice("Go to a row with j and k, then g opens its group.");
    },
    Escape: () => selection.clear(),
  });
  const full = Math.max(0, ...(pages.data?.pages.map((page) => page.scale ?? 0) ?? []));
  const filtered = Object.keys(list.filters).length > 0;
  if (first?.total === 0 && !filtered) return <EmptyList project={project} />;
  return (
    <main className="listpage">
      <h1 className="hidden">Trajectories</h1>
      <Filters project={project} filters={list.filters} onChange={(filters) => change({ filters })} />
      <div className="toolbar">
        <RunChooser
          project={project}
          runs={runs.data ?? []}
          name="credit by"
          empty="no run yet"
          shown={named(runs.data ?? [], run)?.id ?? null}
          open={open}
          onOpen={setOpen}
          onChoose={(chosen) => change({ run: chosen }, "push")}
        />
        <label>
          sort{" "}
          <select value={list.sort} onChange={(event) => change({ sort: event.target.value as Sort })}>
            {Object.entries(SORT_WORDS).map(([sort, words]) => (
              <option key={sort} value={sort}>
                {words}
              </option>
            ))}
          </select>
        </label>
        <span className="end" role="status">
          {first && `${count(rows.length)} of ${count(first.total)}${first.total_exact ? "" : "+"}`}
          {full > 0 && `, strips scaled to ±${number(full)}`}
        </span>
        {selection.rows.length > 0 && (
          <button type="button" onClick={compare}>
            compare {selection.rows.length === 2 ? "the two" : "1 of 2"} selected
          </button>
        )}
        <Go to={toExport}>Export preview</Go>
      </div>
      {pages.error && !pages.data && <Trouble error={pages.error} what="the list" />}
      {first?.total === 0 && filtered && <NoMatch onClear={() => change({ filters: {} }, "push")} />}
      {rows.length > 0 && (
        <Table
          rows={rows}
          total={first?.total ?? rows.length}
          full={full}
          more={pages.hasNextPage && !pages.isFetchingNextPage}
          onMore={() => void pages.fetchNextPage()}
          selected={selection.ids}
          toGroup={(row) => toGroup(row, row.id)}
          to={(row) => trajectoryPath(project, row.id) + writeView({ ...PLAIN, by: list.run })}
        />
      )}
    </main>
  );
}

/** The row that has the focus. */
function focused(rows: TrajectoryRow[]): TrajectoryRow | undefined {
  const id = document.activeElement?.closest<HTMLElement>("[data-row]")?.dataset.row;
  return rows.find((row) => row.id === id);
}

/** Up to two rows to compare; a third takes the place of the first. */
function useSelection(rows: TrajectoryRow[]) {
  const [ids, setIds] = useState<string[]>([]);
  const toggle = (row: TrajectoryRow | undefined) => {
    if (!row) notice("Go to a row with j and k, then x selects it.");
    else setIds(ids.includes(row.id) ? ids.filter((id) => id !== row.id) : [...ids, row.id].slice(-2));
  };
  const chosen = ids.flatMap((id) => rows.find((row) => row.id === id) ?? []);
  return { ids: new Set(ids), rows: chosen, toggle, clear: () => setIds([]) };
}

/** To the next or previous row; Enter opens it, as it does any link. */
function moveFocus(by: 1 | -1): void {
  const links = [...document.querySelectorAll<HTMLElement>(".rows .cover")];
  const here = links.indexOf(document.activeElement as HTMLElement);
  links[Math.max(0, Math.min(links.length - 1, here + by))]?.focus();
}

const SORT_WORDS: Record<Sort, string> = {
  "-created": "newest first",
  created: "oldest first",
  outcome: "lowest reward",
  "-outcome": "highest reward",
  spans: "shortest",
  "-spans": "longest",
};

interface TableProps {
  rows: TrajectoryRow[];
  total: number;
  full: number;
  more: boolean;
  onMore: () => void;
  selected: ReadonlySet<string>;
  to: (row: TrajectoryRow) => string;
  toGroup: (row: TrajectoryRow) => string;
}

const HEADS = [
  "trajectory",
  "reward",
  "A(group)",
  "group",
  "passed",
  "spans",
  "top span",
  "credit by span",
  "errors",
  "notes",
  "labels",
  "model",
  "when",
];

function Table({ rows, total, full, more, onMore, selected, to, toGroup }: TableProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => 36,
    overscan: 8,
  });
  const items = virtual.getVirtualItems();
  const last = items.at(-1)?.index ?? 0;
  useEffect(() => {
    if (more && last >= rows.length - 20) onMore();
  });
  return (
    <div className="table" role="table" aria-label="Trajectories" aria-rowcount={total + 1}>
      <div role="rowgroup">
        {/* biome-ignore lint/a11y/useFocusableInteractive: the links in the rows are what is operated */}
        <div className="tr th" role="row" aria-rowindex={1}>
          {HEADS.map((head) => (
            // biome-ignore lint/a11y/useFocusableInteractive: a plain header
            <span key={head} role="columnheader">
              {head}
            </span>
          ))}
        </div>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolled region needs the keyboard */}
      <div className="scroll" ref={scroller} role="rowgroup" tabIndex={0} aria-label="rows">
        <div className="rows" role="presentation" style={{ height: virtual.getTotalSize() }}>
          {items.map(({ index, start }) => {
            const row = rows[index];
            return (
              row && (
                <Row
                  key={row.id}
                  {...{ row, index, start, full }}
                  selected={selected.has(row.id)}
                  to={to(row)}
                  toGroup={toGroup(row)}
                />
              )
            );
          })}
        </div>
      </div>
    </div>
  );
}

interface RowProps {
  row: TrajectoryRow;
  index: number;
  start: number;
  full: number;
  selected: boolean;
  to: string;
  toGroup: string;
}

function Row({ row, index, start, full, selected, to, toGroup }: RowProps) {
  return (
    // biome-ignore lint/a11y/useFocusableInteractive: its link is what is operated
    <div
      className={selected ? "tr chosen" : "tr"}
      role="row"
      aria-rowindex={index + 2}
      data-row={row.id}
      style={{ transform: `translateY(${start}px)` }}
    >
      <span role="cell" className={row.n_overrides > 0 ? "edited" : undefined}>
        {selected && (
          <span className="tick" title="selected">
            ✓
          </span>
        )}
        <Go to={to} className="cover" title={shownName(row.external_id)} aria-label={shownName(row.external_id)}>
          <LongName name={row.external_id} />
        </Go>
        {row.n_overrides > 0 && (
          <span className="badge" title={`edges that people edited: ${count(row.n_overrides)}`}>
            edited
          </span>
        )}
      </span>
      <span role="cell" className="figure">
        {row.outcome === null ? <span className="muted">none yet</span> : number(row.outcome)}
      </span>
      <span role="cell" className="figure" title={meanTitle(row)}>
        {row.group_difference === null ? <span className="muted">–</span> : signed(row.group_difference)}
      </span>
      <span role="cell" title={shownName(row.group)}>
        <Go to={toGroup} className="ontop" aria-label={`group ${shownName(row.group)}`}>
          <LongName name={row.group} />
        </Go>
      </span>
      <span role="cell" className="figure" title={passedTitle(row)}>
        {row.group_passed}/{row.group_size}
      </span>
      <span role="cell" className="figure">
        {count(row.n_spans)}
      </span>
      <span role="cell">
        {row.top ? (
          <span className={row.top.credit < 0 ? "top blame" : "top credit"} title={topTitle(row)}>
            <LongName name={spanName(row.top.name)} /> <span className="muted">s{row.top.span}</span>{" "}
            {number(row.top.credit)}
            {ties(row) > 0 && <span className="muted">and {more(row)}</span>}
          </span>
        ) : (
          <span className="muted">{topless(row)}</span>
        )}
      </span>
      <span role="cell">{row.strip && <Strip cells={row.strip} full={full} label={stripLabel(row)} />}</span>
      <span role="cell" className="figure">
        {row.n_errors > 0 ? count(row.n_errors) : <span className="muted">0</span>}
      </span>
      <span role="cell" className="figure">
        {row.n_notes > 0 ? count(row.n_notes) : <span className="muted">0</span>}
      </span>
      <span role="cell" className="figure" title="labels of its spans">
        {row.n_labels > 0 ? count(row.n_labels) : <span className="muted">0</span>}
      </span>
      <span role="cell" title={row.model === null ? "the log names no model" : inline(row.model)}>
        {row.model === null ? <span className="muted">–</span> : inline(row.model)}
      </span>
      <span role="cell" className="muted">
        {when(row.created)}
      </span>
    </div>
  );
}

function meanTitle(row: TrajectoryRow): string {
  if (row.group_mean === null) return "nobody in its group is scored";
  return `its reward less the mean of its group, ${number(row.group_mean)} over ${row.group_scored} scored`;
}

function passedTitle(row: TrajectoryRow): string {
  const unscored = row.group_size - row.group_scored;
  return `${row.group_passed} of ${row.group_size} rollouts of its group have a reward of at least 0.5${
    unscored > 0 ? `; ${unscored} not scored` : ""
  }`;
}

/** Cells of the strip as far from zero as the top span's, beside it: the first of equals is not worse than they are. */
function ties(row: TrajectoryRow): number {
  const { top, strip } = row;
  return top && strip ? strip.filter((cell) => cell === top.credit).length - 1 : 0;
}

/** How many spans are as far from zero: where the strip pools them, only that there are some. */
function more(row: TrajectoryRow): string {
  return row.strip && row.strip.length === row.n_spans ? `${count(ties(row))} more` : "more";
}

function topTitle(row: TrajectoryRow): string {
  const name = shownName(row.top?.name ?? "");
  return ties(row) > 0 ? `${name}: the first of several with the same credit` : name;
}

/** Why no span stands out. */
function topless({ strip }: TrajectoryRow): string {
  if (!strip) return "–";
  const scored = strip.find((value) => value !== null);
  if (scored === undefined) return "not scored";
  return `all ${number(scored)}`;
}

function stripLabel({ strip }: TrajectoryRow): string {
  const scored = (strip ?? []).filter((value) => value !== null && value !== undefined);
  const below = scored.filter((value) => value < 0).length;
  return `credit strip: ${below} of ${scored.length} scored cells below zero`;
}
