/** The panels of the dashboard, each asked for by itself, so that a slow one holds up no other. */

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useSearch } from "wouter/use-browser-location";
import { ask, client } from "./api";
import type { components, paths } from "./api.gen";
import { go, type How } from "./location";
import { type DashView, GROUPS, readDash, whichOf, writeDash } from "./pure/dashboard";

type Schemas = components["schemas"];
export type RewardsPanel = Schemas["RewardsPanel"];
export type RewardGroup = Schemas["RewardGroup"];
export type VariancePanel = Schemas["VariancePanel"];
export type StepBin = Schemas["StepBin"];
export type PassPanel = Schemas["PassPanel"];
export type LengthPanel = Schemas["LengthPanel"];
export type ToolsPanel = Schemas["ToolsPanel"];
export type ToolCredit = Schemas["ToolCredit"];
export type AgreementPanel = Schemas["AgreementPanel"];
export type Pair = Schemas["PairOut"];
export type OffPathPanel = Schemas["OffPathPanel"];
export type DashboardRun = Schemas["DashboardRun"];

type Query<P extends keyof paths> = paths[P] extends { get: { parameters: { query?: infer Q } } } ? Q : never;
type Which = Query<"/api/v1/dashboard/rewards">;
type WithRuns = Query<"/api/v1/dashboard/tools">;

/** One panel; what is shown stays while another filter is asked. */
const usePanel = <Q, T>(name: string, query: Q, get: (query: Q, signal: AbortSignal) => Promise<T>) =>
  useQuery<T>({
    queryKey: ["dashboard", name, query],
    queryFn: ({ signal }) => get(query, signal),
    placeholderData: keepPreviousData,
  });

export const useRewards = (project: string, view: DashView) =>
  usePanel(
    "rewards",
    { project, ...whichOf(view), sort: view.sort, from: view.from, limit: GROUPS } satisfies Which,
    (query, signal) => ask(client.GET("/api/v1/dashboard/rewards", { params: { query }, signal })),
  );

export const useVariance = (project: string, view: DashView) =>
  usePanel("variance", { project, ...whichOf(view) }, (query, signal) =>
    ask(client.GET("/api/v1/dashboard/variance", { params: { query }, signal })),
  );

export const usePassAtK = (project: string, view: DashView) =>
  usePanel("passk", { project, ...whichOf(view) }, (query, signal) =>
    ask(client.GET("/api/v1/dashboard/passk", { params: { query }, signal })),
  );

const withRuns = (project: string, view: DashView): WithRuns => ({
  project,
  ...whichOf(view),
  ...(view.runs.length > 0 ? { run: view.runs.join(",") } : {}),
});

export const useLength = (project: string, view: DashView) =>
  usePanel("length", withRuns(project, view), (query, signal) =>
    ask(client.GET("/api/v1/dashboard/length", { params: { query }, signal })),
  );

export const useTools = (project: string, view: DashView) =>
  usePanel("tools", withRuns(project, view), (query, signal) =>
    ask(client.GET("/api/v1/dashboard/tools", { params: { query }, signal })),
  );

export const useAgreement = (project: string, view: DashView) =>
  usePanel("agreement", withRuns(project, view), (query, signal) =>
    ask(client.GET("/api/v1/dashboard/agreement", { params: { query }, signal })),
  );

export const useOffPath = (project: string, view: DashView) =>
  usePanel("offpath", withRuns(project, view), (query, signal) =>
    ask(client.GET("/api/v1/dashboard/offpath", { params: { query }, signal })),
  );

/** What is shown, from the URL; whatever else changes, the page of rewards begins anew. */
export function useDash(): [DashView, (part: Partial<DashView>, how?: How) => void] {
  const change = (part: Partial<DashView>, how: How = "replace") =>
    go(location.pathname + writeDash({ ...readDash(location.search), from: 0, ...part }), how);
  return [readDash(useSearch()), change];
}
