/** Server state: what is asked when, and how long an answer serves. */

import { QueryClient, useQueries, useQuery } from "@tanstack/react-query";
import { api, type PreviewQuery, type Run, type SpanText, Unreachable } from "./api";

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 30_000,
      networkMode: "always",
      refetchOnWindowFocus: false,
      retry: (failures, error) => error instanceof Unreachable && failures < 1,
      retryDelay: 300,
    },
    mutations: { networkMode: "always" },
  },
});

export const useTrajectory = (project: string, id: string | null) =>
  useQuery({
    queryKey: ["trajectory", project, id],
    queryFn: ({ signal }) => api.trajectory(project, id ?? "", signal),
    enabled: id !== null,
  });

export const useGraph = (project: string, id: string) =>
  useQuery({ queryKey: ["graph", project, id], queryFn: ({ signal }) => api.graph(project, id, signal) });

export const useCredits = (project: string, id: string, run: string | null) =>
  useQuery({
    queryKey: ["credits", project, id, run],
    queryFn: ({ signal }) => api.credits(project, id, run ?? "", signal),
    enabled: run !== null,
  });

/** One span in every finished run that scored the trajectory. */
export const useSpanCredits = (project: string, id: string, span: number) =>
  useQuery({
    queryKey: ["span credits", project, id, span],
    queryFn: ({ signal }) => api.spanCredits(project, id, span, signal),
  });

export const useEvidence = (project: string, id: string, span: number | null) =>
  useQuery({
    queryKey: ["evidence", project, id, span],
    queryFn: ({ signal }) => api.evidence(project, id, span ?? 0, signal),
    enabled: span !== null,
  });

export const useWhy = (project: string, id: string, run: string | null, span: number) =>
  useQuery({
    queryKey: ["why", project, id, run, span],
    queryFn: ({ signal }) => api.why(project, id, run ?? "", span, signal),
    enabled: run !== null,
  });

export const running = (run: Run) => run.state === "queued" || run.state === "running";

/** Runs asked for at once: the newest of the project. */
export const NEWEST = 200;

/** Newest first; asked again every second while one of them is at work. */
export const useRuns = (project: string) =>
  useQuery({
    queryKey: ["runs", project],
    queryFn: ({ signal }) => api.runs(project, NEWEST, signal),
    refetchInterval: (query) => (query.state.data?.items.some(running) ? 1000 : false),
    select: (page) => page.items,
  });

/** One group, with the mean credit of its calls in one run; the one before stays while another run is asked. */
export const useGroup = (project: string, id: string, run: string | null, wanted: boolean) =>
  useQuery({
    queryKey: ["group", project, id, run],
    queryFn: ({ signal }) => api.group(project, id, run, signal),
    enabled: wanted,
    placeholderData: (before, asked) => (asked?.queryKey[2] === id ? before : undefined),
  });

/** Two rollouts of a group side by side. */
export const useAlignment = (
  project: string,
  group: string,
  a: string | null,
  b: string | null,
  run: string | null,
  wanted: boolean,
) =>
  useQuery({
    queryKey: ["alignment", project, group, a, b, run],
    queryFn: ({ signal }) => api.alignment(project, group, a ?? "", b ?? "", run, signal),
    enabled: wanted && a !== null && b !== null,
    placeholderData: (before) => before,
  });

/** A run by its id, or the newest finished one of that name. */
export const useRun = (project: string, name: string | null) =>
  useQuery({
    queryKey: ["run", project, name],
    queryFn: ({ signal }) => api.run(project, name ?? "", signal),
    enabled: name !== null,
  });

/** Those runs, and the ones on screen that are older than they. */
export const useRunsWith = (project: string, runs: Run[], shown: (string | undefined)[]): Run[] =>
  useQueries({
    queries: shown
      .filter((id) => id !== undefined)
      .filter((id) => runs.every((run) => run.id !== id))
      .map((id) => ({
        queryKey: ["run", project, id],
        queryFn: ({ signal }: { signal: AbortSignal }) => api.run(project, id, signal),
      })),
    combine: (answers) => [...runs, ...answers.flatMap((answer) => answer.data ?? [])],
  });

/** Names that begin so, for a filter box that is being typed into. */
export type Suggested = "tools" | "groups" | "trajectories";

export const useSuggestions = (project: string, what: Suggested, text: string, wanted: boolean) =>
  useQuery({
    queryKey: ["suggestions", project, what, text],
    queryFn: ({ signal }) => api.suggestions(project, what, text, signal),
    select: (found) => found.items,
    enabled: wanted,
    placeholderData: (before) => before,
  });

export const useAttributors = () =>
  useQuery({ queryKey: ["attributors"], queryFn: ({ signal }) => api.attributors(signal), staleTime: Infinity });

export const useExporters = () =>
  useQuery({ queryKey: ["exporters"], queryFn: ({ signal }) => api.exporters(signal), staleTime: Infinity });

/** The file name of the server's database, where it is a file. */
export const useDatabase = () =>
  useQuery({
    queryKey: ["database"],
    queryFn: ({ signal }) => api.health(signal),
    select: (found) => found.database,
    staleTime: Infinity,
  });

export const useTokenizers = () =>
  useQuery({
    queryKey: ["tokenizers"],
    queryFn: ({ signal }) => api.tokenizers(signal),
    select: (found) => found.items,
  });

/** What a trainer will see; while other tokens of the same export are fetched, the ones before stay on screen. */
export const usePreview = (query: PreviewQuery | null) =>
  useQuery({
    queryKey: ["preview", query && [query.project, query.run, query.to, query.tokenizer], query],
    queryFn: ({ signal }) => api.preview(query ?? { run: "" }, signal),
    enabled: query !== null,
    placeholderData: (before, asked) =>
      JSON.stringify(asked?.queryKey[1]) ===
      JSON.stringify(query && [query.project, query.run, query.to, query.tokenizer])
        ? before
        : undefined,
  });

/** Spans whose text is asked for at once, and characters of each before it is cut in the middle. */
export const WINDOW = 50;
export const MOST = 4000;

/** Texts of the windows that rows `first` to `last` touch, and of one window on either side. */
export function useTexts(project: string, id: string, spans: number, first: number, last: number) {
  const from = Math.max(0, Math.floor(first / WINDOW) - 1);
  const to = Math.min(Math.ceil(spans / WINDOW) - 1, Math.floor(last / WINDOW) + 1);
  const windows = Array.from({ length: Math.max(0, to - from + 1) }, (_, i) => (from + i) * WINDOW);
  return useQueries({
    queries: windows.map((start) => ({
      queryKey: ["text", project, id, start],
      queryFn: ({ signal }: { signal: AbortSignal }) =>
        api.text(project, id, start, Math.min(spans, start + WINDOW), MOST, signal),
      staleTime: Infinity,
    })),
    combine: (answers) => {
      const texts = new Map<number, SpanText>();
      for (const answer of answers) for (const text of answer.data?.items ?? []) texts.set(text.span, text);
      return texts;
    },
  });
}

/** Stretches of one span's text that the window left out. */
export const useStretches = (project: string, id: string, span: number, ranges: [number, number][]) =>
  useQueries({
    queries: ranges.map(([from, to]) => ({
      queryKey: ["stretch", project, id, span, from, to],
      queryFn: async ({ signal }: { signal: AbortSignal }) => ({
        from,
        text: await api.textOf(project, id, span, from, to, signal),
      }),
      staleTime: Infinity,
    })),
    combine: (answers) => answers.flatMap((answer) => answer.data ?? []),
  });
