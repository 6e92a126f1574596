import type { Grades as Found } from "../api";
import { labelsFile } from "../api";
import { type Part, useGrades } from "../label-queries";
import { count, number, plural } from "../pure/format";
import { interval } from "../pure/labels";
import { inline, visible } from "../pure/visible";
import { StaleMark } from "./stale-mark";
import { Trouble } from "./trouble";

/** How well finished runs blame the labelled culprits: on all labels, then on those no attributor had a hand in. */
export function Grades({ project }: { project: string }) {
  return (
    <div className="grades">
      <p className="muted">
        hit@k: chance that a labelled culprit is among the k most blamed choices, equally blamed ones in random order
        (Wilson interval). MRR: mean of 1 / rank of the most blamed culprit (bootstrap over trajectories, none for one).
        Scale 0 to 1, intervals of 95 %. Of several runs of one label the newest is graded.
      </p>
      <Table project={project} part="all" title="All labels" />
      <Table project={project} part="random" title="Labels from the random tenth" />
      <p>
        <a className="button" href={labelsFile(project)} download="labels.jsonl">
          Download the labels (JSONL)
        </a>{" "}
        <span className="muted">
          <code>trajcredit eval --stored</code> prints the same figures.
        </span>
      </p>
    </div>
  );
}

function Table({ project, part, title }: { project: string; part: Part; title: string }) {
  const { data, error } = useGrades(project, part);
  return (
    <section aria-label={title}>
      <h2>{title}</h2>
      {error && !data && <Trouble error={error} what="grades" />}
      {data && data.labels === 0 && (
        <p className="muted">
          {part === "random"
            ? "None yet. Only labels given in the random queue count here: no attributor picked what they are about."
            : "None yet: label a failed rollout first."}
        </p>
      )}
      {data && data.labels > 0 && <Graded found={data} name={title} />}
    </section>
  );
}

function Graded({ found, name }: { found: Found; name: string }) {
  return (
    <>
      <p>
        {plural(found.labels, "label")}, {count(found.blind)} of them blind, on{" "}
        {plural(found.labelled, "trajectory", "trajectories")}
      </p>
      {found.runs.length === 0 ? (
        <p className="muted">No finished run to grade.</p>
      ) : (
        <table className="gradetable" aria-label={name}>
          <thead>
            <tr>
              <th scope="col">run</th>
              <th scope="col" title="labelled trajectories with a culprit that the run scored">
                n
              </th>
              <th scope="col">hit@1</th>
              <th scope="col">hit@3</th>
              <th scope="col">MRR</th>
            </tr>
          </thead>
          <tbody>
            {found.runs.map((run) => (
              <tr key={run.run}>
                <th scope="row">
                  {inline(`${run.label} #${run.number}`)}
                  <StaleMark run={run} />
                </th>
                <td className="figure">{count(run.graded)}</td>
                {[run.hit_at_1, run.hit_at_3, run.mrr].map((figure, i) => (
                  // biome-ignore lint/suspicious/noArrayIndexKey: three measures in a fixed order
                  <td key={i} className="figure">
                    {interval(figure)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {found.kappa && <Kappa kappa={found.kappa} />}
      {found.remarks.map((remark) => (
        <p key={remark} className="muted small">
          {visible(remark)}
        </p>
      ))}
    </>
  );
}

function Kappa({ kappa }: { kappa: NonNullable<Found["kappa"]> }) {
  const who = kappa.labellers.map((name) => inline(name)).join(" and ");
  const over = `over ${plural(kappa.n, "span")} that both labelled`;
  if (kappa.value === null) return <p>{`Cohen’s kappa of ${who}: not defined, both said the same of all, ${over}`}</p>;
  return (
    <p title="agreement beyond chance: 1 all, 0 as chance would have it, below 0 less than that">
      Cohen’s kappa of {who}: <b>{number(kappa.value)}</b> (−1 to 1), {over}
    </p>
  );
}
