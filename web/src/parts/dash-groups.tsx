import {
  type RewardGroup,
  type RewardsPanel,
  usePassAtK,
  useRewards,
  useVariance,
  type VariancePanel,
} from "../dashboard";
import { type Cluster, clusters, type DashView, GROUPS, listOf, type Order, place, share } from "../pure/dashboard";
import { count, number, plural } from "../pure/format";
import { shownName } from "../pure/name";
import { groupPath, trajectoryPath } from "../pure/url";
import { inline } from "../pure/visible";
import { Panel, ShareBar } from "./dash-panel";
import { Go } from "./go";
import { LongName } from "./long-name";

interface Props {
  project: string;
  view: DashView;
  change: (part: Partial<DashView>) => void;
}

/** Dots drawn where rewards fall together; the rest is counted. */
const MOST = 8;

export function Rewards({ project, view, change }: Props) {
  const answer = useRewards(project, view);
  return (
    <Panel
      title="Reward by group"
      about="one row a group, one dot a rollout; groups by their mean reward, each by its most trusted reward source"
      answer={answer}
    >
      {(panel) => (
        <>
          <Summary panel={panel} />
          <div className="rewardhead small muted">
            <label>
              sort{" "}
              <select value={view.sort} onChange={(event) => change({ sort: event.target.value as Order })}>
                <option value="mean">lowest mean first</option>
                <option value="-mean">highest mean first</option>
              </select>
            </label>
            <span>group</span>
            <span className="figure" title="standard deviation of a sample: divided by n − 1">
              mean ± sd (n−1)
            </span>
            <span className="figure">passed</span>
            <span className="scaleends" aria-hidden="true">
              <span>{number(panel.low)}</span>
              <span>reward</span>
              <span>{number(panel.high)}</span>
            </span>
          </div>
          <ol className="rewardrows">
            {panel.items.map((group) => (
              <GroupRow key={group.key} {...{ project, group, panel }} />
            ))}
          </ol>
          <Pages panel={panel} change={change} />
        </>
      )}
    </Panel>
  );
}

function Summary({ panel }: { panel: RewardsPanel }) {
  const unscored = panel.rollouts - panel.scored;
  return (
    <p>
      {plural(panel.groups, "group")}, {plural(panel.rollouts, "rollout")}
      {unscored > 0 && `, ${count(unscored)} without a reward`}; {panel.sources.map(spaced).join(", ")} rewards.{" "}
      <span className="muted">
        <span className="rolloutdot pass" /> {number(panel.pass_at)} and above passes,{" "}
        <span className="rolloutdot fail" /> below fails
      </span>
    </p>
  );
}

const spaced = (source: string) => source.replace("_", " ");

function GroupRow({ project, group, panel }: { project: string; group: RewardGroup; panel: RewardsPanel }) {
  const at = (reward: number) => place(reward, panel.low ?? 0, panel.high ?? 0);
  const dots = group.rollouts.flatMap((one) => (one.reward === null ? [] : [{ ...one, reward: one.reward }]));
  const hidden = group.scored - dots.length;
  return (
    <li>
      <Go to={groupPath(project, group.key)} className="groupname" title={shownName(group.group)}>
        <LongName name={group.group} />
      </Go>
      <span
        className="figure"
        title="mean reward of the scored rollouts, and their standard deviation (divided by n − 1)"
      >
        {group.mean === null ? <span className="muted">no reward</span> : number(group.mean)}
        {group.sd !== null && <span className="muted"> ±{number(group.sd)}</span>}
      </span>
      <span className="figure muted" title="rollouts that passed, of those with a reward">
        {group.passed}/{group.scored}
      </span>
      <span className="rewardtrack">
        <i className="passmark" style={{ left: `${inside(at(panel.pass_at))}%` }} />
        {clusters(dots, (dot) => at(dot.reward), MOST).map((cluster) => (
          <Dots key={cluster.at} {...{ project, cluster, pass: panel.pass_at }} />
        ))}
        {hidden > 0 && <span className="small muted">{count(hidden)} not drawn</span>}
      </span>
    </li>
  );
}

const inside = (at: number) => Math.max(0, Math.min(100, at));

type Dot = RewardGroup["rollouts"][number] & { reward: number };

function Dots({ project, cluster, pass }: { project: string; cluster: Cluster<Dot>; pass: number }) {
  return (
    <span className="cluster" style={{ left: `${cluster.at}%`, transform: `translateX(-${cluster.at}%)` }}>
      {cluster.dots.map((dot) => {
        const passed = dot.reward >= pass;
        const said = `${inline(dot.external_id)}: reward ${number(dot.reward)}, ${passed ? "passed" : "failed"}`;
        return (
          <Go
            key={dot.id}
            to={trajectoryPath(project, dot.id)}
            className={passed ? "rolloutdot pass" : "rolloutdot fail"}
            title={said}
            aria-label={said}
          />
        );
      })}
      {cluster.more > 0 && <span className="small">+{count(cluster.more)}</span>}
    </span>
  );
}

function Pages({ panel, change }: { panel: RewardsPanel; change: Props["change"] }) {
  if (panel.start === 0 && panel.next === null) return null;
  const last = Math.min(panel.start + panel.items.length, panel.groups);
  return (
    <p className="pages">
      <button
        type="button"
        disabled={panel.start === 0}
        onClick={() => change({ from: Math.max(0, panel.start - GROUPS) })}
      >
        Previous
      </button>
      <span className="small muted">
        groups {count(panel.start + 1)} to {count(last)} of {count(panel.groups)}
      </span>
      <button type="button" disabled={panel.next === null} onClick={() => change({ from: panel.next ?? 0 })}>
        Next
      </button>
    </p>
  );
}

export function Variance({ project, view }: Omit<Props, "change">) {
  const answer = useVariance(project, view);
  return (
    <Panel
      title="Groups without variance"
      about="groups whose rollouts all have one reward: a group baseline gives them no advantage, so they teach nothing"
      answer={answer}
    >
      {(panel) => (
        <>
          <VarianceHead panel={panel} />
          <Split {...{ project, view, panel }} />
          <Steps {...{ project, view, panel }} />
        </>
      )}
    </Panel>
  );
}

function VarianceHead({ panel }: { panel: VariancePanel }) {
  const alike = panel.all_pass + panel.all_fail;
  return (
    <p className="lead">
      <b className="bignumber">{panel.share === null ? "–" : share(panel.share.value)}</b>{" "}
      {panel.flagged && <span className="badge error">above {share(panel.threshold)}</span>}{" "}
      <span className="muted">
        {count(alike)} of {plural(panel.groups, "group")} with two scored rollouts or more
        {panel.share?.low != null &&
          panel.share.high != null &&
          `, 95 % interval ${share(panel.share.low)} to ${share(panel.share.high)} (Wilson)`}
        {panel.too_small > 0 && `; ${plural(panel.too_small, "group")} with fewer left out`}
      </span>
    </p>
  );
}

/** All groups as one bar. */
function Split({ project, view, panel }: { project: string; view: DashView; panel: VariancePanel }) {
  const mixed = panel.groups - panel.all_pass - panel.all_fail;
  const parts = [
    { name: "all fail", n: panel.all_fail, tone: "fail", to: listOf(project, view, { outcome: "fail" }) },
    { name: "mixed", n: mixed, tone: "mixed", to: listOf(project, view) },
    { name: "all pass", n: panel.all_pass, tone: "pass", to: listOf(project, view, { outcome: "pass" }) },
  ];
  return (
    <ul className="splitbar">
      {parts
        .filter((part) => part.n > 0)
        .map((part) => (
          <li key={part.name} style={{ flexGrow: part.n }}>
            <Go to={part.to} className={`part ${part.tone}`} title={`${part.name}: ${plural(part.n, "group")}`}>
              <span className="hidden">list: </span>
            </Go>
            <span className="small">
              {part.name} {count(part.n)}
            </span>
          </li>
        ))}
    </ul>
  );
}

function Steps({ project, view, panel }: { project: string; view: DashView; panel: VariancePanel }) {
  if (panel.bins.length === 0)
    return (
      <p className="small muted">
        No training step is logged: with one on each rollout this shows the share over training.
      </p>
    );
  const first = panel.bins[0];
  const last = panel.bins.at(-1);
  return (
    <figure>
      <figcaption className="small muted">
        share of groups by training step, 0 to 100 %; the line is {share(panel.threshold)}
        {panel.without_step > 0 && `; ${plural(panel.without_step, "group")} without a step not drawn`}
      </figcaption>
      <div className="columns">
        <i className="threshold" style={{ bottom: `${100 * panel.threshold}%` }} />
        {panel.bins.map((bin) => {
          const steps = bin.first === bin.last ? `step ${bin.first}` : `steps ${bin.first} to ${bin.last}`;
          const part = (bin.all_pass + bin.all_fail) / bin.groups;
          const said = `${steps}: ${share(part)} of ${plural(bin.groups, "group")}, ${bin.all_pass} all pass, ${bin.all_fail} all fail${bin.flagged ? ", flagged" : ""}`;
          return (
            <Go
              key={bin.first}
              to={listOf(project, view, { step_min: bin.first, step_max: bin.last })}
              className={bin.flagged ? "column flagged" : "column"}
              title={said}
              aria-label={said}
            >
              <i className="part pass" style={{ height: `${(100 * bin.all_pass) / bin.groups}%` }} />
              <i className="part fail" style={{ height: `${(100 * bin.all_fail) / bin.groups}%` }} />
            </Go>
          );
        })}
      </div>
      <p className="scaleends small muted">
        <span>step {first?.first}</span>
        <span>{last?.last}</span>
      </p>
    </figure>
  );
}

export function PassAtK({ project, view }: Omit<Props, "change">) {
  const answer = usePassAtK(project, view);
  return (
    <Panel
      title="pass@k"
      about="chance that at least one of k rollouts of a task passes: unbiased 1 − C(n−c, k) / C(n, k), every group counted once"
      answer={answer}
    >
      {(panel) => (
        <>
          <div className="scrollx">
            <table className="figures">
              <caption className="small muted">
                {plural(panel.groups, "group")}, {plural(panel.rollouts, "scored rollout")}
                {panel.unscored > 0 && `, ${count(panel.unscored)} unscored left out`}; a reward of{" "}
                {number(panel.pass_at)} passes; band: 95 % bootstrap over groups, {count(panel.draws)} draws, seed{" "}
                {panel.seed}
              </caption>
              <thead>
                <tr>
                  <th scope="col">k</th>
                  <th scope="col" className="chartcell">
                    0 <span className="hidden">to</span> <span className="end">1</span>
                  </th>
                  <th scope="col" className="figure">
                    pass@k
                  </th>
                  <th scope="col" className="figure">
                    95 %
                  </th>
                  <th scope="col" className="figure" title="groups with at least k scored rollouts">
                    groups
                  </th>
                  <th scope="col" className="figure" title="groups with fewer than k scored rollouts">
                    left out
                  </th>
                </tr>
              </thead>
              <tbody>
                {panel.points.map((point) => (
                  <tr key={point.k}>
                    <th scope="row" className="tight">
                      {point.k}
                    </th>
                    <td className="chartcell">
                      <Go
                        to={listOf(project, view, { outcome: "pass" })}
                        className="band"
                        title="the rollouts that passed"
                        aria-label={`pass@${point.k}: the rollouts that passed`}
                      >
                        <ShareBar part={point.value} />
                        {point.low !== null && point.high !== null && (
                          <i
                            className="interval"
                            style={{ left: `${100 * point.low}%`, width: `${100 * (point.high - point.low)}%` }}
                          />
                        )}
                      </Go>
                    </td>
                    <td className="figure">{point.value.toFixed(3)}</td>
                    <td className="figure muted">
                      {point.low === null || point.high === null
                        ? "one group"
                        : `${point.low.toFixed(3)} to ${point.high.toFixed(3)}`}
                    </td>
                    <td className="figure">{count(point.groups)}</td>
                    <td className="figure">{count(point.left_out)}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        </>
      )}
    </Panel>
  );
}
