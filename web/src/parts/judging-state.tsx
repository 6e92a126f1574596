import { atWork, type Judging } from "../api-judges";
import { count } from "../pure/format";
import { counts } from "../pure/judges";

/** How far a judging is, in words; a bar beside them while it is at work. */
export function JudgingState({ judging }: { judging: Judging }) {
  const said = judging.judged + judging.missing;
  return (
    <span className={`judgestate ${judging.state}`}>
      <b>{judging.state}</b>
      {atWork(judging) && judging.total > 0 && (
        <progress
          value={said}
          max={judging.total}
          aria-label={`${count(said)} of ${count(judging.total)} trajectories`}
        />
      )}
      <span className="muted small">{counts(judging)}</span>
    </span>
  );
}
