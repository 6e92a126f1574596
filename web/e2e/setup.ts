/** One real server for all browser tests, with the bundled example scored in project `default`. */

import type { TestProject } from "vitest/node";
import { call, demo, type Server, startServer } from "./server.mjs";

export interface Served {
  server: Pick<Server, "url">;
  ids: Record<string, string>;
  grpo: string;
  dag: string;
}

declare module "vitest" {
  export interface ProvidedContext {
    served: Served;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await startServer();
  const scored = await demo(server);
  await call(server, "/groups/ext:denver-sanjose"); // kernels are compiled once on a new machine, before anybody waits
  project.provide("served", { server: { url: server.url }, ...scored });
  return () => server.stop();
}
