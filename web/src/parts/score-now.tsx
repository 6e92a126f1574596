import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { type AttributorInfo, api, type RunRequest } from "../api";
import { count } from "../pure/format";
import type { NewRun } from "../pure/judges";
import { inline } from "../pure/visible";
import { running, useAttributors } from "../queries";
import { Trouble } from "./trouble";

interface Props {
  project: string;
  onScored: (run: string) => void;
  /** Hears of the run while it still waits for its turn. */
  onStarted?: (run: string) => void;
  /** What is filled in. */
  begin?: NewRun | null;
}

/** Starts a run with any registered attributor over the project, and waits for it. */
export function ScoreNow({ project, onScored, onStarted, begin }: Props) {
  const attributors = useAttributors();
  const [name, setName] = useState(begin?.attributor ?? "dag");
  const [given, setGiven] = useState<Record<string, string>>(begin?.parameters ?? {});
  const dataset = begin?.dataset ?? null;
  const [run, start] = useRun(project, onScored);
  const chosen = attributors.data?.find((one) => one.name === name);
  const busy = start.isPending || (run.data && running(run.data));
  return (
    <form
      className="scorenow"
      onSubmit={(event) => {
        event.preventDefault();
        start.mutate(
          { attributor: name, parameters: filled(given), dataset },
          { onSuccess: (begun) => onStarted?.(begun.id) },
        );
      }}
    >
      <h3>Score now</h3>
      <label>
        attributor{" "}
        <select
          value={name}
          onChange={(event) => {
            setName(event.target.value);
            setGiven({});
          }}
        >
          {attributors.data?.map((one) => (
            <option key={one.name} value={one.name}>
              {inline(one.name)}
            </option>
          ))}
        </select>
      </label>
      {chosen && <p className="muted small">{inline(chosen.summary)}</p>}
      {chosen && <Beyond attributor={chosen} given={given} onGive={setGiven} />}
      {chosen && <Parameters attributor={chosen} given={given} onGive={setGiven} open={begin != null} />}
      <button type="submit" className="primary" disabled={busy || !chosen}>
        {busy ? "Scoring…" : dataset === null ? "Score all trajectories" : `Score data set ${inline(dataset)}`}
      </button>
      {run.data && running(run.data) && (
        <p role="status">
          {run.data.state}: {count(run.data.done)} of {count(run.data.total)}
        </p>
      )}
      {run.data?.state === "failed" && <p className="trouble">{inline(run.data.error ?? "the run failed")}</p>}
      {start.error && <Trouble error={start.error} what="not started" />}
    </form>
  );
}

/** What a link filled in beyond the attributor's own parameters: whom it hears. Shown, since it is asked for too. */
function Beyond({ attributor, given, onGive }: Omit<ParametersProps, "open">) {
  const own = new Set(attributor.parameters.map((parameter) => parameter.name));
  return Object.entries(given)
    .filter(([name]) => !own.has(name))
    .map(([name, value]) => (
      <label key={name} className="beyond">
        {inline(name)} <input value={value} onChange={(event) => onGive({ ...given, [name]: event.target.value })} />
      </label>
    ));
}

interface ParametersProps {
  attributor: AttributorInfo;
  given: Record<string, string>;
  onGive: (given: Record<string, string>) => void;
  open: boolean;
}

function Parameters({ attributor, given, onGive, open }: ParametersProps) {
  if (attributor.parameters.length === 0) return null;
  return (
    <details open={open}>
      <summary>parameters</summary>
      {attributor.parameters.map((parameter) => (
        <label key={parameter.name} title={inline(parameter.sentence)}>
          {parameter.name}{" "}
          <input
            value={given[parameter.name] ?? ""}
            placeholder={parameter.default}
            onChange={(event) => onGive({ ...given, [parameter.name]: event.target.value })}
          />
          <span className="muted small">{inline(parameter.sentence)}</span>
        </label>
      ))}
    </details>
  );
}

/** What was typed, as the text the command line takes; what was left alone keeps its default. */
function filled(given: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value.trim() !== ""));
}

/** A run that is started and then asked about every second until it ends. */
export function useRun(project: string, onScored: (run: string) => void) {
  const client = useQueryClient();
  const start = useMutation({
    mutationFn: (body: RunRequest) => api.start(project, body),
    onSuccess: () => client.invalidateQueries({ queryKey: ["runs", project] }),
  });
  const id = start.data?.id ?? null;
  const run = useQuery({
    queryKey: ["run", project, id],
    queryFn: ({ signal }) => api.run(project, id ?? "", signal),
    enabled: id !== null,
    refetchInterval: (query) => (query.state.data && !running(query.state.data) ? false : 1000),
  });
  const finished = run.data?.state === "done" ? run.data.id : null;
  useEffect(() => {
    if (finished === null) return;
    void client.invalidateQueries({ queryKey: ["runs", project] }).then(() => onScored(finished));
  }, [finished, client, project, onScored]);
  return [run, start] as const;
}
