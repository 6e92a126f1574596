/** How long a bar is: one scale for all columns on screen, never changed silently. */

import type { Credit } from "./pool";

export const SCALES = ["trajectory", "one", "dataset"] as const;
export type Scale = (typeof SCALES)[number];

/** Largest size in some columns; 0 where nothing is scored. */
export function largest(columns: readonly (readonly Credit[])[]): number {
  let most = 0;
  for (const column of columns) for (const value of column) if (value !== null) most = Math.max(most, Math.abs(value));
  return most;
}

/** What the server says of the sizes of one run's numbers. */
export interface Sizes {
  /** The largest one in this trajectory. */
  trajectory: number;
  /** The 99th percentile over the whole run; null where it is not known. */
  dataset: number | null;
}

/** The scale in force: that of the data set is not known for every run. */
export function inForce(scale: Scale, runs: readonly Sizes[]): Scale {
  return scale === "dataset" && runs.every((run) => !run.dataset) ? "trajectory" : scale;
}

/** The number that fills a bar: the same for all runs shown. */
export function fullBar(scale: Scale, runs: readonly Sizes[]): number {
  if (scale === "one") return 1;
  if (inForce(scale, runs) === "dataset") return Math.max(...runs.map((run) => run.dataset ?? 0));
  return Math.max(0, ...runs.map((run) => run.trajectory));
}

/** Part of the half bar that a credit fills, 0..1; one that does not fit fills it. */
export function filled(value: number, full: number): number {
  return full > 0 ? Math.min(1, Math.abs(value) / full) : 0;
}

/** Whether a credit is longer than the bar can show. */
export function overflows(value: number, full: number): boolean {
  return Math.abs(value) > full * (1 + 1e-9);
}
