/** What the server is asked about judges, and what of its answers is kept how long. */

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { ask, BASE, client, type Schemas } from "./api";
import type { Trust } from "./pure/judges";

export type Judging = Schemas["JudgingOut"];
export type Judges = Schemas["Judges"];
export type JudgeInfo = Schemas["JudgeInfo"];
export type Opinion = Schemas["OpinionOut"];
export type JudgingRequest = Schemas["JudgingRequest"];

const PAGE = 50;
const at = (project: string, id: string) => ({ params: { path: { id }, query: { project } } });

export const atWork = ({ state }: Pick<Judging, "state">) => state === "queued" || state === "running";

export const judgesApi = {
  start: (project: string, body: JudgingRequest) =>
    ask(client.POST("/api/v1/judgings", { params: { query: { project } }, body })),
  cancel: (project: string, id: string) => ask(client.POST("/api/v1/judgings/{id}/cancel", at(project, id))),
  resume: (project: string, id: string) => ask(client.POST("/api/v1/judgings/{id}/resume", at(project, id))),
};

/** Where its opinions are to be had as a file. */
export const opinionsFile = (project: string, id: string) =>
  `${BASE}/judgings/${encodeURIComponent(id)}/export?${new URLSearchParams({ project })}`;

/** Who can be asked, on which models of the server. */
export const useJudges = () =>
  useQuery({
    queryKey: ["judges"],
    queryFn: ({ signal }) => ask(client.GET("/api/v1/judges", { signal })),
    staleTime: Infinity,
  });

/** Judgings of a project, newest first, from a cursor on; asked again every second while one is at work. */
export const useJudgings = (project: string, cursor: string | null) =>
  useQuery({
    queryKey: ["judgings", project, cursor],
    queryFn: ({ signal }) =>
      ask(
        client.GET("/api/v1/judgings", {
          params: { query: { project, limit: PAGE, ...(cursor === null ? {} : { cursor }) } },
          signal,
        }),
      ),
    refetchInterval: (query) => (query.state.data?.items.some(atWork) ? 1000 : false),
  });

export const useJudging = (project: string, id: string) =>
  useQuery({
    queryKey: ["judging", project, id],
    queryFn: ({ signal }) => ask(client.GET("/api/v1/judgings/{id}", { ...at(project, id), signal })),
    refetchInterval: (query) => (query.state.data && atWork(query.state.data) ? 1000 : false),
  });

/** How far it can be trusted, beside other judgings of the project where some are named. */
export const useTrust = (
  project: string,
  judging: Judging,
  beside: { against: string | null; repeat: string | null },
) =>
  useQuery({
    queryKey: ["trust", project, judging.id, judging.state, judging.judged, beside],
    queryFn: async ({ signal }) => {
      const named = Object.entries(beside).filter(([, value]) => value !== null);
      const query = { project, ...Object.fromEntries(named) };
      const asked = client.GET("/api/v1/judgings/{id}/reliability", {
        params: { path: { id: judging.id }, query },
        signal,
      });
      return (await ask(asked)) as unknown as Trust;
    },
    enabled: !atWork(judging) && judging.judged > 0,
    placeholderData: keepPreviousData,
  });

/** What every judging said of a trajectory: asked for whenever it is looked at, as judges go on. */
export const useOpinions = (project: string, id: string) =>
  useQuery({
    queryKey: ["opinions", project, id],
    staleTime: 0,
    queryFn: ({ signal }) => ask(client.GET("/api/v1/trajectories/{id}/opinions", { ...at(project, id), signal })),
    select: (found) => found.items,
  });
