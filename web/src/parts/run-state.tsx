import type { Run } from "../api";
import { count, percent } from "../pure/format";
import { inline } from "../pure/visible";
import { running } from "../queries";

/** How far a run is: its state, the part of its trajectories that is done, and why its numbers are out of date. */
export function RunState({ run }: { run: Run }) {
  return (
    <span className={`runstate ${run.state}`}>
      <b>{run.state}</b> {(running(run) || run.state === "cancelled") && <Progress run={run} />}
      {run.stale && (
        <span className="badge error" title={inline(run.stale_reason ?? "")}>
          stale
        </span>
      )}
    </span>
  );
}

function Progress({ run }: { run: Run }) {
  if (run.total === 0) return run.state === "running" ? <span className="muted">reading its inputs</span> : null;
  return (
    <>
      <progress
        value={run.done}
        max={run.total}
        aria-label={`${count(run.done)} of ${count(run.total)} trajectories`}
      />{" "}
      <span className="figure muted">
        {count(run.done)} of {count(run.total)}, {percent(run.done / run.total)}
      </span>
    </>
  );
}
