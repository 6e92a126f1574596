import { useMutation, useQueryClient } from "@tanstack/react-query";
import { api, type Run } from "../api";
import { go } from "../location";
import { notice } from "../notice";
import { runPath } from "../pure/url";
import { inline } from "../pure/visible";
import { running } from "../queries";

interface Props {
  project: string;
  run: Run;
  /** How people call it. */
  name: string;
}

/** What can be done about a run: stop it while it is at work, ask for it again once it ended. */
export function RunActions({ project, run, name }: Props) {
  const client = useQueryClient();
  const failed = (error: Error) => notice(`${inline(name)}: ${inline(error.message)}`);
  const cancel = useMutation({
    mutationFn: () => api.cancel(project, run.id),
    onSuccess: async (stopped) => {
      client.setQueryData(["run", project, run.id], stopped);
      await client.invalidateQueries({ queryKey: ["runs", project] });
    },
    onError: failed,
  });
  const again = useMutation({
    mutationFn: () => api.again(project, run.id),
    onSuccess: async (begun) => {
      await client.invalidateQueries({ queryKey: ["runs", project] });
      go(runPath(project, begun.id));
    },
    onError: failed,
  });
  if (running(run)) {
    return (
      <button
        type="button"
        disabled={cancel.isPending}
        onClick={() => cancel.mutate()}
        aria-label={`Cancel ${inline(name)}`}
      >
        Cancel
      </button>
    );
  }
  return (
    <button
      type="button"
      className={run.stale ? "primary" : ""}
      disabled={again.isPending}
      onClick={() => again.mutate()}
      title="the same attributor, parameters, reward, groups and data set, over what is stored now"
      aria-label={`Run again: ${inline(name)}`}
    >
      Run again
    </button>
  );
}
