import type { Run } from "../api";
import { runName } from "../pure/runs";
import { inline } from "../pure/visible";

/** At once, as the server shows them (docs/http.md). */
export const MOST_RUNS = 8;

interface Props {
  runs: Run[];
  /** Ids or names that are chosen; none: the newest. */
  chosen: string[];
  onChoose: (runs: string[]) => void;
}

/** Several finished runs at once. */
export function RunPicker({ runs, chosen, onChoose }: Props) {
  const done = runs.filter((run) => run.state === "done");
  const strange = chosen.filter((name) => done.every((run) => run.id !== name));
  const toggle = (id: string) => onChoose(chosen.includes(id) ? chosen.filter((name) => name !== id) : [...chosen, id]);
  const said = chosen.map((name) => {
    const run = done.find((one) => one.id === name);
    return inline(run ? runName(runs, run.id, run.label) : name);
  });
  return (
    <details className="runpicker">
      <summary>
        runs: <b>{said.length > 0 ? said.join(", ") : "the newest of each kind"}</b>
      </summary>
      <fieldset>
        <legend className="small muted">
          At most {MOST_RUNS}; the first chosen is what credit by tool and by length is of.
        </legend>
        {strange.map((name) => (
          <label key={name}>
            <input type="checkbox" checked onChange={() => toggle(name)} /> {inline(name)}
          </label>
        ))}
        {done.map((run) => (
          <label key={run.id}>
            <input
              type="checkbox"
              checked={chosen.includes(run.id)}
              disabled={!chosen.includes(run.id) && chosen.length >= MOST_RUNS}
              onChange={() => toggle(run.id)}
            />{" "}
            {inline(runName(runs, run.id, run.label))}
            {run.stale && <span className="badge error">stale</span>}
          </label>
        ))}
        {done.length === 0 && <p className="muted">No finished run yet.</p>}
        {chosen.length > 0 && (
          <button type="button" className="quiet" onClick={() => onChoose([])}>
            the newest of each kind
          </button>
        )}
      </fieldset>
    </details>
  );
}
