/** Groups: their links, the values of arguments as they are read, the colour of a mean, where dots of rewards stand. */

/** What of a group is looked at: the run that credits its calls, and the two rollouts side by side. */
export interface GroupView {
  by: string | null;
  a: string | null;
  b: string | null;
}

export const ANY_TWO: GroupView = { by: null, a: null, b: null };

export function readGroup(search: string): GroupView {
  const given = new URLSearchParams(search);
  return { by: given.get("by") || null, a: given.get("a") || null, b: given.get("b") || null };
}

export function writeGroup(view: GroupView): string {
  const out = new URLSearchParams();
  if (view.by) out.set("by", view.by);
  if (view.a) out.set("a", view.a);
  if (view.b) out.set("b", view.b);
  const text = out.toString();
  return text ? `?${text}` : "";
}

export const GROUP_SORTS = ["-created", "created", "mean", "-mean", "-size", "size"] as const;
export type GroupSort = (typeof GROUP_SORTS)[number];

/** Which groups are listed: those whose name begins so, in which order. */
export interface GroupList {
  text: string;
  sort: GroupSort;
}

export function readGroups(search: string): GroupList {
  const given = new URLSearchParams(search);
  return {
    text: given.get("text") ?? "",
    sort: GROUP_SORTS.find((sort) => sort === given.get("sort")) ?? "-created",
  };
}

export function writeGroups(list: GroupList): string {
  const out = new URLSearchParams();
  if (list.text) out.set("text", list.text);
  if (list.sort !== "-created") out.set("sort", list.sort);
  const text = out.toString();
  return text ? `?${text}` : "";
}

/** Two different rollouts: those asked for, else those the server proposes. */
export function chosen(
  view: GroupView,
  proposed: { a: string | null; b: string | null },
): [string | null, string | null] {
  const other = (side: string | null) => [proposed.b, proposed.a].find((one) => one !== side) ?? null;
  if (view.a !== null) return [view.a, view.b ?? other(view.a)];
  if (view.b !== null) return [[proposed.a, proposed.b].find((one) => one !== view.b) ?? null, view.b];
  return [proposed.a, proposed.b];
}

/** A value of JSON as people read it: text without its quotes, unless that would look like something else. */
export function value(json: string): string {
  if (!json.startsWith('"')) return json;
  const text = parsed(json);
  if (typeof text !== "string") return json.slice(1); // cut on its way here
  return text === "" || parsed(text) !== undefined ? json : text;
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

/** On which side of the group's mean a mean lies, and how far, 0..1 of the farthest. */
export function tone(mean: number | null, middle: number | null, farthest: number): { side: Side; part: number } {
  if (mean === null || middle === null) return { side: "unscored", part: 0 };
  const away = mean - middle;
  if (Math.abs(away) <= 1e-9 * Math.max(1, Math.abs(middle))) return { side: "level", part: 0 };
  return { side: away < 0 ? "below" : "above", part: farthest > 0 ? Math.min(1, Math.abs(away) / farthest) : 0 };
}
export type Side = "below" | "above" | "level" | "unscored";

/** Dots of rewards on a scale, 0..1 each; equal ones are stacked. */
export function dots(
  rewards: readonly (number | null)[],
  low: number,
  high: number,
): { reward: number; at: number; level: number }[] {
  const stacked = new Map<number, number>();
  return rewards.flatMap((reward) => {
    if (reward === null) return [];
    const at = high > low ? (reward - low) / (high - low) : 0.5;
    const bin = Math.round(at * BINS);
    const level = stacked.get(bin) ?? 0;
    stacked.set(bin, level + 1);
    return [{ reward, at: bin / BINS, level }];
  });
}
const BINS = 24;
