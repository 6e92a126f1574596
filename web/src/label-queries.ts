/** Labels on the server: what is asked when, and what is asked again once somebody said something. */

import { useQuery } from "@tanstack/react-query";
import { api } from "./api";
import type { LabelRow, Outcome, Queue } from "./pure/labels";
import { queryClient } from "./queries";

export const useLabels = (project: string, trajectory: string | null) =>
  useQuery({
    queryKey: ["labels", project, "of", trajectory],
    queryFn: ({ signal }) => api.labels(project, trajectory ?? "", signal),
    select: (page) => page.items,
    enabled: trajectory !== null,
  });

export interface Asked {
  project: string;
  labeller: string;
  queue: Queue;
  outcome: Outcome;
}

/** The first of a queue, and how much is left of it. */
export const useTurn = (asked: Asked, wanted: boolean) =>
  useQuery({
    queryKey: ["labels", asked.project, "turn", asked.labeller, asked.queue, asked.outcome],
    queryFn: ({ signal }) => api.turn(asked, signal),
    placeholderData: (before) => (before?.queue === asked.queue ? before : undefined),
    enabled: wanted,
  });

export type Part = "all" | "blind" | "random";

export const useGrades = (project: string, part: Part, trajectory: string | null = null, wanted = true) =>
  useQuery({
    queryKey: ["labels", project, "grades", part, trajectory],
    queryFn: ({ signal }) => api.grades({ project, part, ...(trajectory === null ? {} : { trajectory }) }, signal),
    enabled: wanted,
  });

/** Sends labels; whatever rests on them is asked for again, and they themselves are there when this ends. */
export async function giveLabels(project: string, rows: LabelRow[]): Promise<void> {
  await api.label(project, rows.map((row) => JSON.stringify(row)).join("\n"));
  void queryClient.invalidateQueries({ queryKey: ["list"], refetchType: "none" });
  for (const what of ["turn", "grades"]) void queryClient.invalidateQueries({ queryKey: ["labels", project, what] });
  await queryClient.invalidateQueries({ queryKey: ["labels", project, "of"] });
}
