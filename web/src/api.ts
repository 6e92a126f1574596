/** What the server is asked, with the types of its own OpenAPI document. */

import createClient from "openapi-fetch";
import type { components, paths } from "./api.gen";
import { heard, lost } from "./server";

export type Schemas = components["schemas"];
export type Problem = Schemas["Problem"];
export type TrajectoryRow = Schemas["TrajectoryRow"];
export type TrajectoryPage = Schemas["TrajectoryPage"];
export type Trajectory = Schemas["TrajectoryOut"];
export type SpanText = Schemas["SpanText"];
export type EdgeColumns = Schemas["EdgeColumns"];
export type EdgeEvidence = Schemas["EdgeEvidence"];
export type EdgeEvidenceList = Schemas["EdgeEvidenceList"];
export type CreditColumns = Schemas["CreditColumns"];
export type Why = Schemas["Why"];
export type Run = Schemas["RunOut"];
export type RunPage = Schemas["RunPage"];
export type Found = Schemas["FoundOut"];
export type RunRequest = Pick<Schemas["RunRequest"], "attributor" | "parameters"> & Partial<Schemas["RunRequest"]>;
export type SpanCredits = Schemas["SpanCredits"];
export type AttributorInfo = Schemas["AttributorInfo"];
export type ParameterInfo = Schemas["ParameterInfo"];
export type ExporterInfo = Schemas["ExporterInfo"];
export type Preview = Schemas["PreviewOut"];
export type PreviewTotals = Schemas["TotalsOut"];
export type PreviewRow = Schemas["RowPreviewOut"];
export type PreviewQuery = NonNullable<paths["/api/v1/exports/preview"]["get"]["parameters"]["query"]>;
export type Note = Schemas["NoteOut"];
export type IngestResult = Schemas["IngestResult"];
export type IngestItem = Schemas["IngestItem"];
export type Label = Schemas["LabelOut"];
export type Turn = Schemas["LabelTurn"];
export type TurnQuery = NonNullable<paths["/api/v1/labels/queue"]["get"]["parameters"]["query"]>;
export type Grades = Schemas["GradesOut"];
export type GradesQuery = NonNullable<paths["/api/v1/labels/grades"]["get"]["parameters"]["query"]>;
export type GroupRow = Schemas["GroupRow"];
export type Group = Schemas["GroupOut"];
export type GroupMember = Schemas["GroupMember"];
export type TreeNode = Schemas["TreeNodeOut"];
export type TreeCall = Schemas["TreeCall"];
export type Alignment = Schemas["AlignmentOut"];
export type AlignedRow = Schemas["AlignedRow"];
export type AlignedCell = Schemas["CellOut"];
export type GroupsQuery = NonNullable<paths["/api/v1/groups"]["get"]["parameters"]["query"]>;
export type ListQuery = NonNullable<paths["/api/v1/trajectories"]["get"]["parameters"]["query"]>;

export const BASE = "/api/v1";
export const client = createClient<paths>({
  baseUrl: location.origin,
  fetch: (request: Request) => globalThis.fetch(request),
});

/** The server's own words about what is wrong. */
export class Refused extends Error {
  constructor(
    readonly problem: Pick<Problem, "title" | "status" | "detail">,
    readonly status: number,
  ) {
    super(problem.detail || problem.title);
  }
}

/** No answer at all. */
export class Unreachable extends Error {
  constructor() {
    super("the server does not answer");
  }
}

interface Answer<T> {
  data?: T;
  error?: unknown;
  response: Response;
}

export async function ask<T>(asked: Promise<Answer<T>>): Promise<T> {
  const answer = await asked.catch((error: unknown) => {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    lost();
    throw new Unreachable();
  });
  heard();
  if (answer.data === undefined || !answer.response.ok) throw refusal(answer.error, answer.response.status);
  return answer.data;
}

export function refusal(body: unknown, status: number): Refused {
  const problem = body && typeof body === "object" ? (body as Partial<Problem>) : {};
  const title = problem.title ?? `the server answered ${status}`;
  return new Refused({ title, status, detail: problem.detail ?? title }, status);
}

export const api = {
  list: (query: ListQuery, signal: AbortSignal) =>
    ask(client.GET("/api/v1/trajectories", { params: { query }, signal })),
  trajectory: (project: string, id: string, signal: AbortSignal) =>
    ask(client.GET("/api/v1/trajectories/{id}", { params: { path: { id }, query: { project } }, signal })),
  text: (project: string, id: string, from: number, to: number, most: number, signal: AbortSignal) =>
    ask(
      client.GET("/api/v1/trajectories/{id}/text", {
        params: { path: { id }, query: { project, from, to, most } },
        signal,
      }),
    ),
  textOf: async (project: string, id: string, span: number, from: number, to: number, signal: AbortSignal) =>
    (await ask(
      client.GET("/api/v1/trajectories/{id}/text/{span}", {
        params: { path: { id, span }, query: { project, from, to } },
        parseAs: "text",
        signal,
      }) as unknown as Promise<Answer<string>>,
    )) as string,
  graph: (project: string, id: string, signal: AbortSignal) =>
    ask(client.GET("/api/v1/trajectories/{id}/graph", { params: { path: { id }, query: { project } }, signal })),
  evidence: (project: string, id: string, span: number, signal: AbortSignal) =>
    ask(
      client.GET("/api/v1/trajectories/{id}/graph/{span}", {
        params: { path: { id, span }, query: { project } },
        signal,
      }),
    ),
  credits: (project: string, id: string, run: string, signal: AbortSignal) =>
    ask(client.GET("/api/v1/trajectories/{id}/credits", { params: { path: { id }, query: { project, run } }, signal })),
  why: (project: string, id: string, run: string, span: number, signal: AbortSignal) =>
    ask(
      client.GET("/api/v1/trajectories/{id}/why", { params: { path: { id }, query: { project, run, span } }, signal }),
    ),
  spanCredits: (project: string, id: string, span: number, signal: AbortSignal) =>
    ask(
      client.GET("/api/v1/trajectories/{id}/credits/{span}", {
        params: { path: { id, span }, query: { project } },
        signal,
      }),
    ),
  runs: (project: string, limit: number, signal: AbortSignal) =>
    ask(client.GET("/api/v1/runs", { params: { query: { project, limit } }, signal })),
  run: (project: string, id: string, signal: AbortSignal) =>
    ask(client.GET("/api/v1/runs/{id}", { params: { path: { id }, query: { project } }, signal })),
  runsPage: (project: string, cursor: string, limit: number, signal: AbortSignal) =>
    ask(
      client.GET("/api/v1/runs", {
        params: { query: { project, limit, ...(cursor ? { cursor } : {}) } },
        signal,
      }),
    ),
  again: (project: string, id: string) =>
    ask(client.POST("/api/v1/runs/{id}/again", { params: { path: { id }, query: { project } } })),
  cancel: (project: string, id: string) =>
    ask(client.POST("/api/v1/runs/{id}/cancel", { params: { path: { id }, query: { project } } })),
  find: (project: string, id: string, q: string, from: number, signal: AbortSignal) =>
    ask(
      client.GET("/api/v1/trajectories/{id}/find", { params: { path: { id }, query: { project, q, from } }, signal }),
    ),
  start: (project: string, body: RunRequest) =>
    ask(
      client.POST("/api/v1/runs", {
        params: { query: { project } },
        body: { reward: null, group_by: null, dataset: null, ...body },
      }),
    ),
  suggestions: async (
    project: string,
    what: "tools" | "groups" | "trajectories",
    text: string,
    signal: AbortSignal,
  ) => {
    if (what === "tools") return ask(client.GET("/api/v1/tools", { params: { query: { project, text } }, signal }));
    if (what === "groups") {
      const page = await api.groups({ project, text, sort: "-size" }, signal);
      return { items: [...new Set(page.items.map((group) => group.name))] };
    }
    const page = await api.list({ project, limit: 50, ...(text ? { text } : {}) }, signal);
    return { items: page.items.map((row) => row.external_id) };
  },
  groups: (query: GroupsQuery, signal: AbortSignal) => ask(client.GET("/api/v1/groups", { params: { query }, signal })),
  group: (project: string, id: string, run: string | null, signal: AbortSignal) =>
    ask(client.GET("/api/v1/groups/{id}", { params: { path: { id }, query: { project, ...runOf(run) } }, signal })),
  alignment: (project: string, id: string, a: string, b: string, run: string | null, signal: AbortSignal) =>
    ask(
      client.GET("/api/v1/groups/{id}/alignment", {
        params: { path: { id }, query: { project, a, b, ...runOf(run) } },
        signal,
      }),
    ),
  attributors: (signal: AbortSignal) => ask(client.GET("/api/v1/attributors", { signal })),
  exporters: (signal: AbortSignal) => ask(client.GET("/api/v1/exporters", { signal })),
  health: (signal: AbortSignal) => ask(client.GET("/healthz", { signal })),
  tokenizers: (signal: AbortSignal) => ask(client.GET("/api/v1/tokenizers", { signal })),
  preview: (query: PreviewQuery, signal: AbortSignal) =>
    ask(client.GET("/api/v1/exports/preview", { params: { query }, signal })),
  labels: (project: string, trajectory: string, signal: AbortSignal) =>
    ask(client.GET("/api/v1/labels", { params: { query: { project, trajectory } }, signal })),
  turn: (query: TurnQuery, signal?: AbortSignal) =>
    ask(client.GET("/api/v1/labels/queue", { params: { query }, ...(signal ? { signal } : {}) })),
  grades: (query: GradesQuery, signal: AbortSignal) =>
    ask(client.GET("/api/v1/labels/grades", { params: { query }, signal })),
  label: async (project: string, rows: string) => {
    const headers = { "Content-Type": "application/x-ndjson" };
    const params = { query: { project } };
    const found = await ask(
      client.POST("/api/v1/labels", { params, body: rows, bodySerializer: (body) => body, headers }),
    );
    const refused = found.items.find((item) => item.status === "rejected");
    if (refused) throw refusal({ detail: `line ${refused.line}: ${refused.reason}` }, 422);
    return found;
  },
};

/** Where every label is to be had as JSON lines. */
export const labelsFile = (project: string) => `${BASE}/labels/export?project=${encodeURIComponent(project)}`;
const runOf = (run: string | null) => (run === null ? {} : { run });

/** Where a run is to be had as a file. */
export function exportPath(project: string, run: string, to: string, tokenizer: string | null): string {
  const query = new URLSearchParams({ project, to });
  if (tokenizer !== null) query.set("tokenizer", tokenizer);
  return `${BASE}/runs/${encodeURIComponent(run)}/export?${query}`;
}

/** Where how far a run is comes in as it goes on. */
export function eventsPath(project: string, run: string): string {
  return `${BASE}/runs/${encodeURIComponent(run)}/events?${new URLSearchParams({ project })}`;
}

export function rawPath(project: string, id: string): string {
  return `${BASE}/trajectories/${encodeURIComponent(id)}/raw?project=${encodeURIComponent(project)}`;
}
