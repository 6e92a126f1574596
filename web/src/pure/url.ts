/** Every view is a link: paths and search parameters to typed state and back. */

import { SCALES, type Scale } from "./scale";

export type Route =
  | { view: "start" }
  | { view: "list"; project: string }
  | { view: "trajectory"; project: string; trajectory: string }
  | { view: "upload"; project: string }
  | { view: "exports"; project: string }
  | { view: "groups"; project: string }
  | { view: "group"; project: string; group: string }
  | { view: "dashboard"; project: string }
  | { view: "labels"; project: string }
  | { view: "runs"; project: string }
  | { view: "run"; project: string; run: string }
  | { view: "judgings"; project: string }
  | { view: "judging"; project: string; judging: string }
  | { view: "nowhere" };

/** Screens that are all of a project, by what the path calls them. */
const WHOLE = {
  trajectories: "list",
  upload: "upload",
  exports: "exports",
  groups: "groups",
  dash: "dashboard",
  labels: "labels",
  runs: "runs",
  judges: "judgings",
} as const;

export function route(pathname: string): Route {
  const parts = decoded(pathname);
  if (parts === null) return { view: "nowhere" };
  if (parts.length === 0) return { view: "start" };
  const [p, project, screen, of, more] = parts;
  if (p !== "p" || project === undefined || screen === undefined || more !== undefined) return { view: "nowhere" };
  if (of === undefined) return isWhole(screen) ? { view: WHOLE[screen], project } : { view: "nowhere" };
  if (screen === "t") return { view: "trajectory", project, trajectory: of };
  if (screen === "g") return { view: "group", project, group: of };
  if (screen === "runs") return { view: "run", project, run: of };
  if (screen === "judges") return { view: "judging", project, judging: of };
  return { view: "nowhere" };
}

function isWhole(screen: string): screen is keyof typeof WHOLE {
  return Object.hasOwn(WHOLE, screen);
}

function decoded(pathname: string): string[] | null {
  try {
    return pathname
      .split("/")
      .filter((part) => part !== "")
      .map(decodeURIComponent);
  } catch {
    return null;
  }
}

const path = (project: string, ...parts: string[]) => `/p/${[project, ...parts].map(encodeURIComponent).join("/")}`;

export const listPath = (project: string) => path(project, "trajectories");
export const uploadPath = (project: string) => path(project, "upload");
export const exportsPath = (project: string) => path(project, "exports");
export const groupsPath = (project: string) => path(project, "groups");
export const dashboardPath = (project: string) => path(project, "dash");
export const labelsPath = (project: string) => path(project, "labels");
export const runsPath = (project: string) => path(project, "runs");
export const judgesPath = (project: string) => path(project, "judges");
export const trajectoryPath = (project: string, trajectory: string) => path(project, "t", trajectory);
export const groupPath = (project: string, group: string) => path(project, "g", group);
export const runPath = (project: string, run: string) => path(project, "runs", run);
export const judgingPath = (project: string, judging: string) => path(project, "judges", judging);

export const FOLDS = ["think", "result"] as const;
export type Fold = (typeof FOLDS)[number];
export const SHOWS = ["credit", "advantage"] as const;
export type Show = (typeof SHOWS)[number];

/** How the dependency graph is drawn: beside every row, or of the selected span alone, in layers. */
export const DRAWINGS = ["rail", "cone"] as const;
export type DrawingKind = (typeof DRAWINGS)[number];

/** What of a trajectory is looked at. `span`: null leaves the choice to the screen, "none" selects nothing. */
export interface View {
  span: number | "none" | null;
  by: string | null;
  vs: string | null;
  diff: boolean;
  scale: Scale;
  show: Show;
  fold: Fold[];
  /** What is looked for in the transcript. */
  q: string | null;
  /** Which of its hits is looked at, counted from 1; 0: none yet. */
  occ: number;
  view: DrawingKind;
  /** Whether edges are being edited. */
  edit: boolean;
}

export const PLAIN: View = {
  span: null,
  by: null,
  vs: null,
  diff: false,
  scale: "trajectory",
  show: "credit",
  fold: [],
  q: null,
  occ: 0,
  view: "rail",
  edit: false,
};

export function readView(search: string): View {
  const given = new URLSearchParams(search);
  return {
    span: readSpan(given.get("span")),
    by: given.get("by") || null,
    vs: given.get("vs") || null,
    diff: given.get("diff") === "1",
    scale: SCALES.find((scale) => scale === given.get("scale")) ?? PLAIN.scale,
    show: SHOWS.find((show) => show === given.get("show")) ?? PLAIN.show,
    fold: FOLDS.filter((fold) => given.get("fold")?.split(",").includes(fold)),
    q: given.get("q") || null,
    occ: given.get("q") ? readCount(given.get("occ")) : 0,
    view: DRAWINGS.find((view) => view === given.get("view")) ?? PLAIN.view,
    edit: given.get("edit") === "1",
  };
}

function readSpan(text: string | null): View["span"] {
  if (text === "none") return "none";
  const digits = /^s(\d{1,9})$/.exec(text ?? "")?.[1];
  return digits === undefined ? null : Number(digits);
}

export function writeView(view: View): string {
  const out = new URLSearchParams();
  if (view.span !== null) out.set("span", view.span === "none" ? "none" : `s${view.span}`);
  if (view.by) out.set("by", view.by);
  if (view.vs) out.set("vs", view.vs);
  if (view.diff) out.set("diff", "1");
  if (view.scale !== PLAIN.scale) out.set("scale", view.scale);
  if (view.show !== PLAIN.show) out.set("show", view.show);
  if (view.fold.length > 0) out.set("fold", view.fold.join(","));
  if (view.q) out.set("q", view.q);
  if (view.q && view.occ > 0) out.set("occ", String(view.occ));
  if (view.view !== PLAIN.view) out.set("view", view.view);
  if (view.edit) out.set("edit", "1");
  return searchOf(out);
}

/** Names of the list's filters as the API has them (docs/http.md); the numeric ones hold what was typed. */
export const FILTERS = [
  "outcome",
  "outcome_min",
  "outcome_max",
  "group",
  "dataset",
  "task",
  "tool",
  "errors",
  "has",
  "policy_version",
  "model",
  "step_min",
  "step_max",
  "no_group",
  "zero_variance",
  "labelled",
  "text",
] as const;
export type FilterName = (typeof FILTERS)[number];
export const SORTS = ["-created", "created", "outcome", "-outcome", "spans", "-spans"] as const;
export type Sort = (typeof SORTS)[number];

export interface ListView {
  filters: Partial<Record<FilterName, string>>;
  sort: Sort;
  run: string | null;
}

export function readList(search: string): ListView {
  const given = new URLSearchParams(search);
  const filters: ListView["filters"] = {};
  for (const name of FILTERS) {
    const value = given.get(name);
    if (value) filters[name] = value;
  }
  return {
    filters,
    sort: SORTS.find((sort) => sort === given.get("sort")) ?? "-created",
    run: given.get("run") || null,
  };
}

export function writeList(list: ListView): string {
  const out = new URLSearchParams();
  for (const name of FILTERS) {
    const value = list.filters[name];
    if (value) out.set(name, value);
  }
  if (list.sort !== "-created") out.set("sort", list.sort);
  if (list.run) out.set("run", list.run);
  return searchOf(out);
}

/** Response tokens of a row in one window of the preview, as the server gives them (docs/http.md). */
export const TOKENS = 2000;

/** What an export is previewed of, and which of its tokens are looked at. */
export interface ExportView {
  run: string | null;
  to: string;
  /** Of the exporter, as the command line takes them; what is left out keeps its default. */
  parameters: Record<string, string>;
  tokenizer: string | null;
  /** An id, ours or `ext:` and the log's own; null: the first that has rows. */
  trajectory: string | null;
  /** 0-based among the trajectory's rows. */
  row: number;
  /** The first response token shown; a multiple of 2,000. */
  from: number;
}

export const NO_EXPORT: ExportView = {
  run: null,
  to: "tokens",
  parameters: {},
  tokenizer: null,
  trajectory: null,
  row: 0,
  from: 0,
};

/** Parameters stand beside the rest under names of their own, so that none is taken for something else. */
const PARAMETER = "p.";
/** Leaving trajectories out is for whoever downloads to say, not for whoever made the link. */
const NEVER_LINKED = "misaligned";

export function readExport(search: string): ExportView {
  const given = new URLSearchParams(search);
  const parameters = [...given]
    .filter(([name, value]) => name.startsWith(PARAMETER) && value)
    .map(([name, value]): [string, string] => [name.slice(PARAMETER.length), value])
    .filter(([name]) => name !== "" && name !== NEVER_LINKED);
  return {
    run: given.get("run") || null,
    to: given.get("to") || NO_EXPORT.to,
    parameters: Object.fromEntries(parameters),
    tokenizer: given.get("tokenizer") || null,
    trajectory: given.get("trajectory") || null,
    row: readCount(given.get("row")),
    from: TOKENS * Math.floor(readCount(given.get("from")) / TOKENS),
  };
}

function readCount(text: string | null): number {
  return /^\d{1,9}$/.test(text ?? "") ? Number(text) : 0;
}

export function writeExport(view: ExportView): string {
  const out = new URLSearchParams();
  if (view.run) out.set("run", view.run);
  if (view.to !== NO_EXPORT.to) out.set("to", view.to);
  for (const [name, value] of Object.entries(view.parameters)) if (value) out.set(PARAMETER + name, value);
  if (view.tokenizer) out.set("tokenizer", view.tokenizer);
  if (view.trajectory) out.set("trajectory", view.trajectory);
  if (view.row > 0) out.set("row", String(view.row));
  if (view.from > 0) out.set("from", String(view.from));
  return searchOf(out);
}

function searchOf(out: URLSearchParams): string {
  const text = out.toString();
  return text ? `?${text}` : "";
}
