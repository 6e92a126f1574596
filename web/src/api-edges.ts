/** What the server is asked about edges that people edit. */

import { ask, client, type Schemas } from "./api";

export type EdgeEdits = Schemas["EdgeEdits"];
export type EditedEdge = Schemas["EditedEdge"];
export type EdgeChange = Schemas["EdgeChange"];
export type EdgeEdit = Schemas["EdgeEditRequest"];
export type EditPreview = Schemas["EdgeEditPreview"];

const at = (project: string, id: string) => ({ path: { id }, query: { project } });

export const edgesApi = {
  edits: (project: string, id: string, signal: AbortSignal) =>
    ask(client.GET("/api/v1/trajectories/{id}/edges", { params: at(project, id), signal })),
  edit: (project: string, id: string, body: EdgeEdit) =>
    ask(client.POST("/api/v1/trajectories/{id}/edges", { params: at(project, id), body })),
  preview: (project: string, id: string, run: string, changes: EdgeChange[]) =>
    ask(client.POST("/api/v1/trajectories/{id}/edges/preview", { params: at(project, id), body: { run, changes } })),
};
