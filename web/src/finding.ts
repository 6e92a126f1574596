/** Find in the transcript: the server looks through all of it, a page shows where. */

import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { api } from "./api";
import { type Hits, joined, marksOfHits, namedSpans, step } from "./pure/hits";
import type { View } from "./pure/url";

/** Hits that are placed; the server places as many of one answer. */
const MOST = 5000;

/** Every hit; where one answer does not reach the end, the next is asked for. */
export const useFound = (project: string, id: string, q: string | null) =>
  useQuery({
    queryKey: ["find", project, id, q],
    queryFn: async ({ signal }) => {
      let found: Hits = await api.find(project, id, q ?? "", 0, signal);
      while (found.next !== null) found = joined(found, await api.find(project, id, q ?? "", found.next, signal), MOST);
      return found;
    },
    enabled: q !== null,
    staleTime: Number.POSITIVE_INFINITY,
  });

const NOTHING = new Map<never, never>();

/** What is looked for, what was found, and how to go on to another hit. */
export function useFind(
  project: string,
  id: string,
  view: View,
  span: number | null,
  change: (part: Partial<View>) => void,
) {
  const query = useFound(project, id, view.q);
  const hits = view.q !== null && query.data?.q === view.q ? query.data : null;
  const occ = hits && view.occ <= hits.span.length ? view.occ : 0;
  const marks = useMemo(() => (hits ? marksOfHits(hits, occ) : NOTHING), [hits, occ]);
  const names = useMemo(() => (hits ? namedSpans(hits) : new Set<number>()), [hits]);
  const go = (by: 1 | -1) => {
    const next = hits ? step(hits, occ, by, span) : 0;
    if (hits && next > 0) change({ occ: next, span: hits.span[next - 1] ?? null });
  };
  return { hits, occ, marks, names, error: query.error, busy: query.isFetching, go };
}
