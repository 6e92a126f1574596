/** What of a project the dashboard shows, as a link; and the little arithmetic of its charts. */

import { type FilterName, type ListView, listPath, writeList } from "./url";

export const ORDERS = ["mean", "-mean"] as const;
export type Order = (typeof ORDERS)[number];

export interface DashView {
  dataset: string | null;
  group: string | null;
  policy: string | null;
  /** Training steps, both ends included; null: open. */
  first: number | null;
  last: number | null;
  /** Ids of runs, or attributors; none: the newest. */
  runs: string[];
  sort: Order;
  /** The group that the page of rewards begins with. */
  from: number;
}

export const WHOLE: DashView = {
  dataset: null,
  group: null,
  policy: null,
  first: null,
  last: null,
  runs: [],
  sort: "mean",
  from: 0,
};

/** Groups on a page of rewards. */
export const GROUPS = 20;

export function readDash(search: string): DashView {
  const given = new URLSearchParams(search);
  const [first, last] = readSteps(given.get("step") ?? "");
  const from = given.get("from") ?? "";
  return {
    dataset: given.get("dataset") || null,
    group: given.get("group") || null,
    policy: given.get("policy") || null,
    first,
    last,
    runs: [...new Set((given.get("run") ?? "").split(",").filter((name) => name !== ""))],
    sort: ORDERS.find((order) => order === given.get("sort")) ?? WHOLE.sort,
    from: /^\d{1,9}$/.test(from) ? GROUPS * Math.floor(Number(from) / GROUPS) : 0,
  };
}

/** `120..180`, `120..`, `..180`, `120`. */
function readSteps(text: string): [number | null, number | null] {
  const found = /^(-?\d{1,15})?(?:(\.\.)(-?\d{1,15})?)?$/.exec(text);
  if (!found) return [null, null];
  const [, first, dots, last] = found;
  const step = (digits: string | undefined) => (digits === undefined ? null : Number(digits) + 0);
  return dots === undefined ? [step(first), step(first)] : [step(first), step(last)];
}

export function writeDash(view: DashView): string {
  const out = new URLSearchParams();
  if (view.dataset) out.set("dataset", view.dataset);
  if (view.group) out.set("group", view.group);
  if (view.policy) out.set("policy", view.policy);
  if (view.first !== null || view.last !== null) out.set("step", `${view.first ?? ""}..${view.last ?? ""}`);
  if (view.runs.length > 0) out.set("run", view.runs.join(","));
  if (view.sort !== WHOLE.sort) out.set("sort", view.sort);
  if (view.from > 0) out.set("from", String(view.from));
  const text = out.toString();
  return text ? `?${text}` : "";
}

/** Whether anything is left out by the filter. */
export function narrowed(view: DashView): boolean {
  const { dataset, group, policy, first, last } = view;
  return [dataset, group, policy, first, last].some((value) => value !== null);
}

/** The filter as the API takes it. */
export function whichOf(view: DashView) {
  const { dataset, group, policy, first, last } = view;
  return {
    ...(dataset === null ? {} : { dataset }),
    ...(group === null ? {} : { group }),
    ...(policy === null ? {} : { policy_version: policy }),
    ...(first === null ? {} : { step_min: first }),
    ...(last === null ? {} : { step_max: last }),
  };
}

/** The list of what the dashboard counts, narrowed further. */
export function listOf(
  project: string,
  view: DashView,
  more: Partial<Record<FilterName, string | number>> = {},
  run: string | null = null,
): string {
  const texts = Object.entries({ ...whichOf(view), ...more }).map(([name, value]) => [name, String(value)]);
  const list: ListView = { filters: Object.fromEntries(texts), sort: "-created", run };
  return listPath(project) + writeList(list);
}

/** A share that is not the whole is never said to be 100 %, one that is not nothing never 0 %. */
export function share(part: number): string {
  if (part > 0 && part < 0.01) return "<1 %";
  return `${part === 1 ? 100 : Math.min(99, Math.round(100 * part))} %`;
}

/** Where a value lies between two ends, in per cent of the way; in the middle where they are one. */
export function place(value: number, low: number, high: number): number {
  return high > low ? (100 * (value - low)) / (high - low) : 50;
}

/** Half the width of a scale about zero that holds all of these; 0 where nothing does. */
export function reach(values: readonly (number | null)[]): number {
  return values.reduce((most: number, value) => Math.max(most, Math.abs(value ?? 0)), 0);
}

/** Dots that fall together, at most so many of them drawn: equal as far as an eye can tell, one in a hundred. */
export interface Cluster<T> {
  at: number;
  dots: T[];
  more: number;
}

export function clusters<T>(dots: readonly T[], at: (dot: T) => number, most: number): Cluster<T>[] {
  const found = new Map<number, T[]>();
  for (const dot of dots) {
    const place = Math.round(at(dot));
    found.set(place, [...(found.get(place) ?? []), dot]);
  }
  return [...found]
    .sort(([a], [b]) => a - b)
    .map(([place, own]) => ({ at: place, dots: own.slice(0, most), more: Math.max(0, own.length - most) }));
}

/** What a rank correlation of length and reward says in words: nothing where its interval holds 0, or there is none. */
export function tendency({ value, low, high }: { value: number; low: number | null; high: number | null }): string {
  if (low === null || high === null) return "too few groups to tell";
  if (low <= 0 && high >= 0) return "no tendency to be told from chance";
  const size = Math.abs(value);
  const how = size < 0.1 ? "hardly" : size < 0.3 ? "somewhat" : size < 0.6 ? "clearly" : "much";
  return `longer is ${how} ${value < 0 ? "worse" : "better"}`;
}
