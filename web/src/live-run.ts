/** One run as it goes on: told by the server where that works, else asked for every second. */

import { type QueryClient, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { api, eventsPath, type Run } from "./api";
import { running } from "./queries";
import { heard } from "./server";

/** Milliseconds until a stream that broke is tried again; until then the run is asked for. */
const PAUSE = 5000;

/** How what is shown came in. */
export type Feed = "told" | "asked";

/** The run of that id or name; while it is at work, as new as the server's word. */
export function useLiveRun(project: string, name: string) {
  const client = useQueryClient();
  const [feed, setFeed] = useState<Feed>("asked");
  const query = useQuery({
    queryKey: ["run", project, name],
    queryFn: ({ signal }) => api.run(project, name, signal),
    refetchInterval: (now) => (now.state.data && running(now.state.data) && feed === "asked" ? 1000 : false),
  });
  const id = query.data?.id ?? null;
  const atWork = query.data !== undefined && running(query.data);
  useEffect(() => {
    if (id === null || !atWork) return;
    return listen(project, id, setFeed, (run) => keep(client, project, name, run));
  }, [client, project, name, id, atWork]);
  return { ...query, feed };
}

function keep(client: QueryClient, project: string, name: string, run: Run): void {
  client.setQueryData(["run", project, name], run);
  if (!running(run)) void client.invalidateQueries({ queryKey: ["runs", project] });
}

/** Listens until told to stop. A tab that nobody looks at does not: browsers have few connections to a server. */
function listen(project: string, id: string, onFeed: (feed: Feed) => void, onRun: (run: Run) => void): () => void {
  let source: EventSource | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const close = () => {
    source?.close();
    source = null;
    clearTimeout(timer);
    onFeed("asked");
  };
  const fail = () => {
    close();
    timer = setTimeout(open, PAUSE);
  };
  const told = (event: MessageEvent<string>) => {
    heard();
    onFeed("told");
    onRun(JSON.parse(event.data) as Run);
  };
  const open = () => {
    if (document.hidden) return;
    source = new EventSource(eventsPath(project, id));
    source.addEventListener("state", told);
    source.addEventListener("progress", told);
    source.addEventListener("problem", fail);
    source.onerror = fail;
  };
  const look = () => {
    close();
    open();
  };
  document.addEventListener("visibilitychange", look);
  open();
  return () => {
    document.removeEventListener("visibilitychange", look);
    close();
  };
}
