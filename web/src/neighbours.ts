/** The trajectory after and before another in the list one came from, page by page as the list has them. */

import type { InfiniteData } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { api, type ListQuery, type TrajectoryPage, type TrajectoryRow } from "./api";
import { go } from "./location";
import { notice } from "./notice";
import { PLAIN, trajectoryPath, type View, writeView } from "./pure/url";
import { inline } from "./pure/visible";
import { queryClient } from "./queries";

const KEY = "trajcredit.list";
/** Pages that are asked for beyond those the list has loaded. */
const MOST_PAGES = 20;

/** The list that is looked at: a trajectory opened from it has the neighbours it has there. */
export function remember(query: ListQuery): void {
  try {
    sessionStorage.setItem(KEY, JSON.stringify(query));
  } catch {
    // without it the neighbours are those of the whole project, newest first
  }
}

function remembered(project: string): ListQuery {
  try {
    const query = JSON.parse(sessionStorage.getItem(KEY) ?? "null") as ListQuery | null;
    if (query?.project === project) return query;
  } catch {
    // as above
  }
  return { project, sort: "-created" };
}

/** The row beside a trajectory of that list; null at its end, undefined where the list does not have it. */
async function neighbour(
  project: string,
  id: string,
  by: 1 | -1,
  signal: AbortSignal,
): Promise<TrajectoryRow | null | undefined> {
  const query = remembered(project);
  const cached = queryClient.getQueryData<InfiniteData<TrajectoryPage, string>>(["list", query]);
  const rows = cached?.pages.flatMap((page) => page.items) ?? [];
  let cursor = cached ? (cached.pages.at(-1)?.next ?? null) : "";
  for (let asked = 0; ; asked++) {
    const here = rows.findIndex((row) => row.id === id);
    const found = here < 0 ? undefined : rows[here + by];
    if (found) return found;
    if (here >= 0 && here + by < 0) return null;
    if (cursor === null) return here < 0 ? undefined : null;
    if (asked === MOST_PAGES) return undefined;
    const page: TrajectoryPage = await api.list({ ...query, ...(cursor ? { cursor } : {}) }, signal);
    rows.push(...page.items);
    cursor = page.next;
  }
}

/** To the next or previous trajectory of the list one came from, looked at in the same way. */
export function useBeside(project: string, id: string, view: View): (by: 1 | -1) => Promise<void> {
  const asked = useRef<AbortController | null>(null);
  useEffect(() => () => asked.current?.abort(), []);
  return async (by) => {
    asked.current?.abort();
    asked.current = new AbortController();
    const { signal } = asked.current;
    const found = await neighbour(project, id, by, signal).catch((error: Error) => {
      if (!signal.aborted) notice(`The list could not be asked: ${inline(error.message)}`);
      return false as const;
    });
    if (signal.aborted || found === false) return;
    const { vs, scale, show, fold } = view;
    if (found) go(trajectoryPath(project, found.id) + writeView({ ...PLAIN, by: view.by, vs, scale, show, fold }));
    else if (found === null) notice(by === 1 ? "This is the last of the list." : "This is the first of the list.");
    else notice("This trajectory is not in the list that was looked at last.");
  };
}
