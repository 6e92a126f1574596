import type { Grades } from "../api";
import { useGrades } from "../label-queries";
import { share } from "../pure/dashboard";
import { count, plural } from "../pure/format";
import { labelsPath } from "../pure/url";
import { inline } from "../pure/visible";
import { ShareBar } from "./dash-panel";
import { Go } from "./go";
import { StaleMark } from "./stale-mark";
import { Trouble } from "./trouble";

/** How often each finished run blames the labelled culprit first; asked apart, so that labels hold up no matrix. */
export function Hits({ project }: { project: string }) {
  const { data, error } = useGrades(project, "all");
  return (
    <section className="card" aria-labelledby="hits">
      <h2 id="hits">Attributors against labels</h2>
      <p className="muted small">whether the run blames first what a person called the culprit</p>
      {error && !data && <Trouble error={error} what="Grades on labels" />}
      {!error && !data && <p className="loading">Loading…</p>}
      {data && <Graded {...{ project, data }} />}
    </section>
  );
}

function Graded({ project, data }: { project: string; data: Grades }) {
  if (data.labelled === 0) {
    return (
      <p className="needs">
        <strong>Needs</strong> labels: nobody has named a culprit yet. <Go to={labelsPath(project)}>Label some</Go>:
        they say which of these runs is right, not only whether they agree.
      </p>
    );
  }
  return (
    <div className="scrollx">
      <table className="figures hits">
        <caption className="small muted">
          hit@1: share of labelled trajectories whose culprit the run blames first, with Wilson's 95 % interval;{" "}
          {plural(data.labels, "label")} of {plural(data.labelled, "trajectory", "trajectories")}, {count(data.blind)}{" "}
          of them blind; over the whole project, whatever the filter
        </caption>
        <thead>
          <tr>
            <th scope="col">run</th>
            <th scope="col" className="chartcell">
              0 <span className="end">100 %</span>
            </th>
            <th scope="col" className="figure">
              hit@1
            </th>
            <th scope="col" className="figure">
              95 %
            </th>
            <th scope="col" className="figure" title="labelled trajectories that the run scored">
              graded
            </th>
          </tr>
        </thead>
        <tbody>
          {data.runs.map(({ graded, hit_at_1: hit, ...run }) => (
            <tr key={run.run}>
              <th scope="row">
                <b>
                  {inline(run.label)} #{run.number}
                </b>
                <StaleMark run={run} />
              </th>
              <td className="chartcell">
                {hit.value !== null && (
                  <Go to={labelsPath(project)} className="band" aria-label="labels" title="the labels">
                    <ShareBar part={hit.value} />
                    {hit.low !== null && hit.high !== null && (
                      <i
                        className="interval"
                        style={{ left: `${100 * hit.low}%`, width: `${100 * (hit.high - hit.low)}%` }}
                      />
                    )}
                  </Go>
                )}
              </td>
              <td className="figure">{hit.value === null ? "–" : share(hit.value)}</td>
              <td className="figure muted">
                {hit.low === null || hit.high === null ? "none graded" : `${share(hit.low)} to ${share(hit.high)}`}
              </td>
              <td className="figure">{count(graded)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
