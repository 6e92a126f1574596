import type { Trajectory } from "../api";
import type { EditPreview } from "../api-edges";
import { number, plural, signed } from "../pure/format";
import { at } from "../pure/graph";
import { difference } from "../pure/stats";
import type { Show } from "../pure/url";
import { inline } from "../pure/visible";
import { spokenKind } from "../pure/words";
import { SpanLink } from "./span-link";

const MOST = 20;

interface Props {
  seen: EditPreview;
  show: Show;
  trajectory: Trajectory;
  onSelect: (span: number) => void;
}

/** What a run would say after the changes, span by span, the largest change first. The transcript shows all of it. */
export function PreviewTable({ seen, show, trajectory, onSelect }: Props) {
  const [before, after] = [seen.before[show], seen.after[show]];
  const change = difference(after, before);
  const moved = before
    .map((_, span) => span)
    .filter((span) => before[span] !== after[span])
    .sort((a, b) => Math.abs(change[b] ?? Infinity) - Math.abs(change[a] ?? Infinity) || a - b);
  return (
    <section aria-label="Preview">
      <h4>
        Preview of {inline(seen.label)} <span className="muted">{show}, nothing is saved</span>
      </h4>
      <p role="status">
        {moved.length === 0 ? "No number of this trajectory changes." : `${plural(moved.length, "span")} changed.`}{" "}
        {seen.others_changed > 0 &&
          `Numbers of ${plural(seen.others_changed, "other trajectory", "other trajectories")} change too. `}
        <span className="muted">{plural(seen.n_trajectories, "trajectory", "trajectories")} scored for it.</span>
      </p>
      {seen.notes.map((note) => (
        <p key={note.code + note.message} className="muted small">
          {inline(note.message)}
        </p>
      ))}
      {moved.length > 0 && (
        <table className="sum preview">
          <thead>
            <tr>
              <th scope="col">span</th>
              <th scope="col">before</th>
              <th scope="col">after</th>
              <th scope="col">change</th>
            </tr>
          </thead>
          <tbody>
            {moved.slice(0, MOST).map((span) => (
              <tr key={span}>
                <td>
                  <SpanLink span={span} onSelect={onSelect} />{" "}
                  {spokenKind(at(trajectory.kind, span), trajectory.name[span])}
                </td>
                <td className="figure">{number(before[span])}</td>
                <td className="figure">{number(after[span])}</td>
                <td className="figure">{signed(change[span])}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {moved.length > MOST && <p className="muted">and {plural(moved.length - MOST, "smaller change")}</p>}
    </section>
  );
}
