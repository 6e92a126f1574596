import { type Opinion, useOpinions } from "../api-judges";
import { signed } from "../pure/format";
import { about, scored, spansOf } from "../pure/judges";
import { judgesPath, judgingPath } from "../pure/url";
import { inline, visible } from "../pure/visible";
import { Go } from "./go";
import { Trouble } from "./trouble";
import "../styles/opinions.css";

interface Props {
  project: string;
  trajectory: string;
  span: number;
  /** Whether the policy wrote it: judges speak of actions. */
  action: boolean;
}

/** What judges say of a span, the newest first; those that could not judge the trajectory say why. */
export function Opinions({ project, trajectory, span, action }: Props) {
  const found = useOpinions(project, trajectory);
  if (found.error && !found.data) return <Trouble error={found.error} what="opinions" />;
  const items = (found.data ?? []).filter((one) => action || about(one.segments, span).length > 0);
  if (!found.data || (items.length === 0 && !action)) return null;
  return (
    <section aria-label="Opinions" className="opinions">
      <h3>
        Opinions <span className="muted">of judges, newest first</span>
      </h3>
      {items.length === 0 && (
        <p className="muted">
          No judge was asked about this trajectory: <Go to={judgesPath(project)}>Judges</Go>.
        </p>
      )}
      <ul>
        {items.map((one) => (
          <li key={one.judging}>
            <Said {...{ project, span }} opinion={one} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function Said({ project, span, opinion }: { project: string; span: number; opinion: Opinion }) {
  const here = about(opinion.segments, span);
  return (
    <>
      <p>
        <Go to={judgingPath(project, opinion.judging)}>{inline(opinion.label)}</Go>{" "}
        <span className="muted small">
          {opinion.scale}
          {opinion.model !== null && `, model ${inline(opinion.model)}`}
        </span>
      </p>
      {opinion.missing !== null ? (
        <p className="none">Not judged: {visible(opinion.missing)}</p>
      ) : (
        here.length === 0 && <p className="muted">Nothing on this span.</p>
      )}
      {here.map((one) => (
        <div key={spansOf(one)} className="opinion">
          <p>
            <b className="figure">{scored(one.score, opinion.scale)}</b>
            {opinion.scale === "state" && one.credit !== null && (
              <span className="muted small">, {signed(one.credit)} to the one before</span>
            )}
            {one.spans.length > 1 && <span className="muted small">, {spansOf(one)} as one</span>}
          </p>
          {one.reason === "" ? (
            <p className="muted small">No reason given.</p>
          ) : (
            <p className="reason">{visible(one.reason)}</p>
          )}
        </div>
      ))}
    </>
  );
}
