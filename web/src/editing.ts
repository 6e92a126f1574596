/** Edges being edited on one trajectory's screen: drafts, what a run would say of them, saving them. */

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback, useMemo, useState } from "react";
import type { CreditColumns, Run, RunRequest } from "./api";
import { type EditPreview, edgesApi } from "./api-edges";
import type { Column } from "./parts/span-row";
import { type Draft, drafted, railEdits, without } from "./pure/edits";
import { at, type Graph } from "./pure/graph";
import { edgeKey, NO_EDITS, type RailEdits } from "./pure/rail";
import { difference } from "./pure/stats";
import type { Show } from "./pure/url";

/** What rests on the edges of a trajectory, or says of a run that it is out of date. */
const TOUCHED = ["edits", "graph", "evidence", "credits", "span credits", "why", "runs", "run"];

export type Editing = ReturnType<typeof useEditing>;

/** What people said of the edges of a trajectory. */
export const useEdits = (project: string, id: string) =>
  useQuery({ queryKey: ["edits", project, id], queryFn: ({ signal }) => edgesApi.edits(project, id, signal) });

export function useEditing(project: string, id: string, graph: Graph, run: CreditColumns | undefined) {
  const saved = useEdits(project, id).data;
  const [drafts, setDrafts] = useState<Draft[]>([]);
  const [picking, setPicking] = useState<((span: number) => void) | null>(null);
  const preview = useMutation({
    mutationFn: (asked: { run: string; changes: Draft[] }) => edgesApi.preview(project, id, asked.run, asked.changes),
  });
  const { reset } = preview;
  const client = useQueryClient();
  const change = useCallback(
    (next: (drafts: Draft[]) => Draft[]) => {
      reset();
      setDrafts(next);
    },
    [reset],
  );
  const save = useMutation({
    mutationFn: async ({ reason, person }: { reason: string; person: string }) => {
      for (const draft of drafts) {
        await edgesApi.edit(project, id, { ...draft, reason, person });
        change((rest) => without(rest, draft)); // what is said is said, whatever becomes of the others
      }
    },
    onSettled: () =>
      Promise.all(
        [...TOUCHED.map((what) => [what, project]), ["labels", project, "grades"], ["dashboard"]].map((queryKey) =>
          client.invalidateQueries({ queryKey }),
        ),
      ),
  });
  const kinds = useMemo(
    () => new Map(graph.parent.map((parent, e) => [edgeKey(parent, at(graph.child, e)), at(graph.kind, e)])),
    [graph],
  );
  const rail: RailEdits = useMemo(
    () => (saved || drafts.length > 0 ? railEdits(saved, drafts, kinds) : NO_EDITS),
    [saved, drafts, kinds],
  );
  return {
    saved,
    drafts,
    rail,
    put: (draft: Draft) => change((rest) => drafted(rest, draft)),
    drop: (pair: Pick<Draft, "parent" | "child">) => change((rest) => without(rest, pair)),
    picking: picking !== null,
    /** The next span that is clicked goes to `take` instead of being selected; null: no longer. */
    pick: (take: ((span: number) => void) | null) => setPicking(() => take),
    /** Whether the click on a span was for us. */
    picked: (span: number | "none"): boolean => {
      if (picking === null || span === "none") return false;
      picking(span);
      setPicking(null);
      return true;
    },
    preview,
    /** Of the run on screen only. */
    seen: preview.data && preview.data.run === run?.run ? preview.data : undefined,
    save,
  };
}

/** Before, after and their difference, as the transcript shows runs. */
export function previewColumns(seen: EditPreview, name: string, show: Show): { columns: Column[]; full: number } {
  const [before, after] = [seen.before[show], seen.after[show]];
  return {
    columns: [
      { key: "before", label: `${name} as it is`, values: before },
      { key: "after", label: `${name} edited`, values: after },
      { key: "change", label: "change", values: difference(after, before) },
    ],
    full: Math.max(
      show === "credit" ? seen.scale : seen.advantage_scale,
      ...difference(after, before).map((value) => Math.abs(value ?? 0)),
    ),
  };
}

/** A run asked for as another was. */
export const alike = (run: Run): RunRequest => ({
  attributor: run.attributor,
  parameters: run.parameters as RunRequest["parameters"], // they were asked for once
  reward: run.reward_name ?? run.reward_source,
  group_by: run.group_by,
  dataset: run.dataset,
});
