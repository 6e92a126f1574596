import { useInfiniteQuery } from "@tanstack/react-query";
import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useRef } from "react";
import { api, type GroupRow } from "../api";
import { useKeys } from "../keys";
import { useLinked } from "../linked";
import { Dots } from "../parts/dots";
import { Go } from "../parts/go";
import { ROWS } from "../parts/help";
import { LongName } from "../parts/long-name";
import { Trouble } from "../parts/trouble";
import { useTyped } from "../parts/typed";
import { count, number, when } from "../pure/format";
import { type GroupSort, readGroups, writeGroups } from "../pure/groups";
import { shownName } from "../pure/name";
import { groupPath } from "../pure/url";
import { inline } from "../pure/visible";
import { useSheet } from "../sheet";
import "../styles/groups.css";

const SORT_WORDS: Record<GroupSort, string> = {
  "-created": "newest first",
  created: "oldest first",
  mean: "lowest mean",
  "-mean": "highest mean",
  "-size": "largest",
  size: "smallest",
};

/** The groups of a project: how many rollouts each has, and how they did. */
export function GroupsView({ project }: { project: string }) {
  const [list, change] = useLinked(readGroups, writeGroups);
  const [typed, setTyped] = useTyped(list.text, (text) => change({ text }));
  const query = { project, sort: list.sort, ...(list.text ? { text: list.text } : {}) };
  const pages = useInfiniteQuery({
    queryKey: ["groups", query],
    queryFn: ({ signal, pageParam }) => api.groups({ ...query, ...(pageParam ? { cursor: pageParam } : {}) }, signal),
    initialPageParam: "",
    getNextPageParam: (page) => page.next || undefined,
    placeholderData: (before) => before,
  });
  useSheet(ROWS);
  useKeys({ j: () => moveFocus(1), k: () => moveFocus(-1) });
  const first = pages.data?.pages[0];
  const rows = pages.data?.pages.flatMap((page) => page.items) ?? [];
  return (
    <main className="listpage groupspage">
      <h1 className="hidden">Groups</h1>
      <search className="filters">
        <label>
          name <input value={typed} placeholder="begins with" onChange={(event) => setTyped(event.target.value)} />
        </label>
        <label>
          sort{" "}
          <select value={list.sort} onChange={(event) => change({ sort: event.target.value as GroupSort })}>
            {Object.entries(SORT_WORDS).map(([sort, words]) => (
              <option key={sort} value={sort}>
                {words}
              </option>
            ))}
          </select>
        </label>
        <span className="end muted" role="status">
          {first && `${count(rows.length)} of ${count(first.total)}${first.total_exact ? "" : "+"} groups`}
        </span>
      </search>
      {pages.error && !pages.data && <Trouble error={pages.error} what="the list of groups" />}
      {first?.total === 0 && (
        <p className="nomatch">
          {list.text
            ? `No group has a name that begins with “${inline(list.text)}”.`
            : "No trajectories yet, so no groups."}
        </p>
      )}
      {rows.length > 0 && (
        <Table
          project={project}
          rows={rows}
          total={first?.total ?? rows.length}
          more={pages.hasNextPage && !pages.isFetchingNextPage}
          onMore={() => void pages.fetchNextPage()}
        />
      )}
    </main>
  );
}

/** To the next or previous row; Enter opens it, as it does any link. */
function moveFocus(by: 1 | -1): void {
  const links = [...document.querySelectorAll<HTMLElement>(".rows .cover")];
  const here = links.indexOf(document.activeElement as HTMLElement);
  links[Math.max(0, Math.min(links.length - 1, here + by))]?.focus();
}

interface TableProps {
  project: string;
  rows: GroupRow[];
  total: number;
  more: boolean;
  onMore: () => void;
}

function Table({ project, rows, total, more, onMore }: TableProps) {
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
  const given = rows.flatMap((row) => row.rewards.filter((reward) => reward !== null));
  const [low, high] = [given.reduce((a, b) => Math.min(a, b), 0), given.reduce((a, b) => Math.max(a, b), 1)];
  const heads = [
    "group",
    "rollouts",
    "passed",
    "mean",
    "sd (n−1)",
    `rewards, ${number(low)} to ${number(high)}`,
    "task",
    "newest",
  ];
  return (
    <div className="table" role="table" aria-label="Groups" aria-rowcount={total + 1}>
      <div role="rowgroup">
        {/* biome-ignore lint/a11y/useFocusableInteractive: the links in the rows are what is operated */}
        <div className="tr th" role="row" aria-rowindex={1}>
          {heads.map((head) => (
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
            return row && <Row key={row.id} {...{ project, row, index, start, low, high }} />;
          })}
        </div>
      </div>
    </div>
  );
}

interface RowProps {
  project: string;
  row: GroupRow;
  index: number;
  start: number;
  low: number;
  high: number;
}

function Row({ project, row, index, start, low, high }: RowProps) {
  return (
    // biome-ignore lint/a11y/useFocusableInteractive: its link is what is operated
    <div className="tr" role="row" aria-rowindex={index + 2} style={{ transform: `translateY(${start}px)` }}>
      <span role="cell">
        <Go
          to={groupPath(project, row.id)}
          className="cover"
          title={shownName(row.name)}
          aria-label={shownName(row.name)}
        >
          <LongName name={row.name} />
        </Go>
      </span>
      <span role="cell" className="figure">
        {count(row.size)}
      </span>
      <span role="cell" className="figure" title="passed of those that have a reward; a reward of at least 0.5 passes">
        {row.scored > 0 ? `${count(row.passed)}/${count(row.scored)}` : <span className="muted">none scored</span>}
      </span>
      <span role="cell" className="figure">
        {number(row.mean)}
      </span>
      <span role="cell" className="figure">
        {row.zero_variance ? (
          <span className="badge" title={FLAT}>
            all {number(row.mean)}
          </span>
        ) : (
          number(row.sd)
        )}
      </span>
      <span role="cell">
        <Dots rewards={row.rewards} size={row.size} low={low} high={high} />
      </span>
      <span role="cell" className="muted" title={about(row)}>
        {about(row)}
      </span>
      <span role="cell" className="muted">
        {when(row.created)}
      </span>
    </div>
  );
}

const FLAT = "zero variance: all rewards are equal, so the group's own baseline has nothing to tell them apart by";

function about(row: GroupRow): string {
  const parts = [
    row.task === null || row.task === row.name ? "" : `task ${inline(row.task)}`,
    row.role === null ? "" : `role ${inline(row.role)}`,
    row.step === null ? "" : `step ${count(row.step)}`,
  ];
  return parts.filter(Boolean).join(", ") || "–";
}
