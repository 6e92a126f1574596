import { useQuery } from "@tanstack/react-query";
import { ask, client } from "../api";
import { type DashView, whichOf } from "../pure/dashboard";
import { count, number } from "../pure/format";
import { shownName } from "../pure/name";
import { PLAIN, trajectoryPath, writeView } from "../pure/url";
import { inline, visible } from "../pure/visible";
import { Go } from "./go";
import { LongName } from "./long-name";
import { Trouble } from "./trouble";

const STATUS = { found: "found", clear: "clear", needs: "needs data" } as const;
/** Trajectories linked in a row; the rest is counted. */
const LINKED = 3;

/** The failure modes of credit assignment, each measured from the logs of the project, or saying what it needs. */
export function Modes({ project, view }: { project: string; view: DashView }) {
  const { group: _, ...filter } = whichOf(view);
  const { data, error } = useQuery({
    queryKey: ["dashboard", "modes", project, filter],
    queryFn: ({ signal }) =>
      ask(client.GET("/api/v1/diagnostics", { params: { query: { project, ...filter } }, signal })),
  });
  return (
    <section className="card wide" aria-labelledby="modes">
      <h2 id="modes">Failure modes</h2>
      <p className="muted small">
        each from what the logs hold, with its 95 % interval by tasks; found where all of the interval lies beyond the
        threshold{view.group !== null && "; over all groups, whatever the filter says of them"}
      </p>
      {error && !data && <Trouble error={error} what="Failure modes" />}
      {!error && !data && <p className="loading">Loading…</p>}
      {data && (
        <div className="scrollx">
          <table className="figures modes">
            <thead>
              <tr>
                <th scope="col">mode</th>
                <th scope="col">status</th>
                <th scope="col" className="figure">
                  figure
                </th>
                <th scope="col" className="figure">
                  threshold
                </th>
                <th scope="col">what was seen, and what helps</th>
                <th scope="col">where</th>
              </tr>
            </thead>
            <tbody>
              {data.modes.map((mode) => (
                <tr key={mode.mode}>
                  <th scope="row">{inline(mode.title)}</th>
                  <td>
                    <span className={mode.status === "found" ? "badge error" : "badge"}>{STATUS[mode.status]}</span>
                  </td>
                  <td className="figure">
                    {mode.figure === null ? "–" : `${number(mode.figure)} ${inline(mode.unit)}`}
                    {mode.low !== null && mode.high !== null && (
                      <span className="small muted">
                        {" "}
                        {number(mode.low)} to {number(mode.high)}
                      </span>
                    )}
                  </td>
                  <td className="figure muted">{mode.threshold === null ? "–" : number(mode.threshold)}</td>
                  <td>
                    {visible(mode.status === "needs" ? (mode.needs ?? mode.says) : mode.says)}
                    {mode.status === "found" && <p className="small muted">{visible(mode.mitigation)}</p>}
                  </td>
                  <td>
                    <ul>
                      {mode.evidence.slice(0, LINKED).map((one) => (
                        <li key={`${one.trajectory} ${one.span} ${one.says}`}>
                          <Go
                            to={trajectoryPath(project, one.trajectory) + writeView({ ...PLAIN, span: one.span })}
                            title={`${shownName(one.external_id ?? one.trajectory)}: ${visible(one.says)}`}
                            className="cutname"
                          >
                            <LongName name={one.external_id ?? one.trajectory} />
                            {one.span !== null && <span>&nbsp;s{one.span}</span>}
                          </Go>
                        </li>
                      ))}
                      {mode.evidence.length + mode.more > LINKED && (
                        <li className="small muted">
                          and {count(Math.max(0, mode.evidence.length - LINKED) + mode.more)} more
                        </li>
                      )}
                    </ul>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}
