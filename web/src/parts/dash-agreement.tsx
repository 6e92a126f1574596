import { type AgreementPanel, type Pair, useAgreement } from "../dashboard";
import type { DashView } from "../pure/dashboard";
import { count, number, plural } from "../pure/format";
import { PLAIN, trajectoryPath, writeView } from "../pure/url";
import { inline } from "../pure/visible";
import { Panel, Read, RunName, runText } from "./dash-panel";
import { Go } from "./go";

interface Props {
  project: string;
  view: DashView;
}

/** How far runs agree on which spans earned or lost the reward. */
export function Agreement({ project, view }: Props) {
  return (
    <Panel
      title="Agreement of attributors"
      about="mean of Spearman's rank correlation of credit within a trajectory, ties by midranks, −1 to 1; only over spans that all of these runs scored"
      answer={useAgreement(project, view)}
    >
      {(panel) => (
        <>
          <p>
            {plural(panel.judged, "trajectory", "trajectories")} with two spans or more that{" "}
            {panel.runs.length === 2 ? "both runs" : `all ${count(panel.runs.length)} runs`} scored
            {panel.shared < panel.read && (
              <span className="muted">; {count(panel.read - panel.shared)} that not all of them read left out</span>
            )}
            {panel.others > 0 && <span className="muted">; {plural(panel.others, "more run")} not shown</span>}.
          </p>
          <Read {...panel} />
          <Matrix {...{ project, panel }} />
        </>
      )}
    </Panel>
  );
}

function Matrix({ project, panel }: { project: string; panel: AgreementPanel }) {
  const { runs } = panel;
  const pairs = new Map(panel.pairs.map((pair) => [`${pair.a} ${pair.b}`, pair]));
  return (
    <div className="scrollx">
      <table className="figures matrix">
        <caption className="small muted">
          n: trajectories a figure is over; on the others one of the two runs gives every span the same, which has no
          ranks. A cell opens the trajectory on which the two agree least.
        </caption>
        <thead>
          <tr>
            <td />
            {runs.slice(0, -1).map((run) => (
              <th scope="col" key={run.id} title={runText(run)}>
                <span className="cutname">{inline(run.label)}</span> #{run.number}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {runs.slice(1).map((run, i) => (
            <tr key={run.id}>
              <th scope="row">
                <RunName run={run} />
              </th>
              {runs.slice(0, i + 1).map((other, j) => (
                <Cell key={other.id} {...{ project, panel }} pair={pairs.get(`${j} ${i + 1}`)} />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Cell({ project, panel, pair }: { project: string; panel: AgreementPanel; pair: Pair | undefined }) {
  const [a, b] = [panel.runs[pair?.a ?? 0], panel.runs[pair?.b ?? 0]];
  if (!pair || !a || !b) return <td />;
  if (pair.value === null || pair.furthest === null) {
    return (
      <td className="heat none" title="one of the two is flat on every trajectory: it ranks no span">
        flat
      </td>
    );
  }
  const said = `${runText(a)} and ${runText(b)}; flat on ${plural(pair.flat, "trajectory", "trajectories")}; furthest apart on ${inline(pair.furthest.external_id)}, ${number(pair.furthest.value)}`;
  const to = trajectoryPath(project, pair.furthest.id) + writeView({ ...PLAIN, by: a.id, vs: b.id });
  const tone = pair.value < 0 ? "blame" : "credit";
  return (
    <td className={`heat ${tone}`} style={{ "--part": `${Math.round(Math.abs(pair.value) * 45)}%` } as object}>
      <Go to={to} title={said}>
        {number(pair.value)} <span className="small">n {count(pair.n)}</span>
        <span className="hidden">: {said}</span>
      </Go>
    </td>
  );
}
