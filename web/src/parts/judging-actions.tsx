import { useMutation, useQueryClient } from "@tanstack/react-query";
import { atWork, type Judging, judgesApi, opinionsFile } from "../api-judges";
import { notice } from "../notice";
import { scoreWith } from "../pure/judges";
import { runsPath } from "../pure/url";
import { inline } from "../pure/visible";
import { Go } from "./go";

interface Props {
  project: string;
  judging: Judging;
  /** How people call it. */
  name: string;
}

/** What can be done about a judging: stop it, go on with it, have its opinions as a file, score with it. */
export function JudgingActions({ project, judging, name }: Props) {
  const client = useQueryClient();
  const after = {
    onSuccess: async (now: Judging) => {
      client.setQueryData(["judging", project, judging.id], now);
      await client.invalidateQueries({ queryKey: ["judgings", project] });
    },
    onError: (error: Error) => notice(`${inline(name)}: ${inline(error.message)}`),
  };
  const cancel = useMutation({ mutationFn: () => judgesApi.cancel(project, judging.id), ...after });
  const resume = useMutation({ mutationFn: () => judgesApi.resume(project, judging.id), ...after });
  if (atWork(judging)) {
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
    <span className="judgeactions">
      {judging.state !== "done" && judging.judge !== "file" && (
        <button
          type="button"
          disabled={resume.isPending}
          onClick={() => resume.mutate()}
          title="asks about what is not judged yet; what a model answered before is not asked for again"
          aria-label={`Resume ${inline(name)}`}
        >
          Resume
        </button>
      )}
      {judging.judged > 0 && (
        <>
          <Go
            className="button"
            to={runsPath(project) + scoreWith(judging)}
            aria-label={`Score with it: ${inline(name)}`}
            title="a run of the attributor judge that hears these opinions"
          >
            Score with it
          </Go>
          <a
            className="button"
            href={opinionsFile(project, judging.id)}
            download
            aria-label={`Opinions, JSON lines, of ${inline(name)}`}
          >
            Opinions, JSON lines
          </a>
        </>
      )}
    </span>
  );
}
