import { type LengthPanel, type ToolCredit, type ToolsPanel, useLength, useOffPath, useTools } from "../dashboard";
import { type DashView, listOf, reach, share, tendency } from "../pure/dashboard";
import { count, number, plural, signed } from "../pure/format";
import { shownName } from "../pure/name";
import { PLAIN, trajectoryPath, writeView } from "../pure/url";
import { inline } from "../pure/visible";
import { Panel, Read, RunName, ShareBar, ZeroBar } from "./dash-panel";
import { Go } from "./go";

interface Props {
  project: string;
  view: DashView;
}

export function Length({ project, view }: Props) {
  return (
    <Panel
      title="Length bias"
      about="whether longer rollouts of one task are rewarded more or less: Spearman's rank correlation, −1 to 1"
      answer={useLength(project, view)}
    >
      {(panel) => (
        <>
          <LengthHead panel={panel} />
          <Read {...panel} />
          <Tenths {...{ project, panel }} />
        </>
      )}
    </Panel>
  );
}

function LengthHead({ panel }: { panel: LengthPanel }) {
  const { within, unit, n } = panel;
  const out = [
    [within.too_small, "with fewer than two scored rollouts"],
    [within.same_reward, "with one reward throughout"],
    [within.same_length, "with one length throughout"],
    [within.cut, "with older members that are not read"],
  ] as const;
  const left = out.filter(([groups]) => groups > 0).map(([groups, why]) => `${count(groups)} ${why}`);
  return (
    <>
      <p className="lead">
        <b className="bignumber">{within.mean === null ? "–" : signed(within.mean.value)}</b>{" "}
        <span>
          within groups
          {within.mean !== null && `: ${tendency(within.mean)}`}
        </span>{" "}
        <span className="muted">
          mean of {plural(within.groups, "group")}
          {within.mean?.low != null &&
            within.mean.high != null &&
            `, 95 % ${signed(within.mean.low)} to ${signed(within.mean.high)} (bootstrap over groups)`}
          {left.length > 0 && `; left out: ${left.join(", ")}`}
        </span>
      </p>
      <p className="small muted">
        over all {plural(n, "trajectory", "trajectories")}: {panel.overall === null ? "–" : signed(panel.overall)} (hard
        tasks take longer, which confounds it). Length is {unit} of action spans
        {unit === "characters" &&
          (panel.with_tokens === 0
            ? ": the log names no tokens"
            : `: only ${count(panel.with_tokens)} of ${count(n)} log tokens of all of theirs`)}
        .{panel.other_sources > 0 && ` ${count(panel.other_sources)} scored by another source alone are left out.`}
      </p>
    </>
  );
}

function Tenths({ project, panel }: { project: string; panel: LengthPanel }) {
  const full = reach(panel.deciles.map((one) => one.credit));
  const rewards = reach(panel.deciles.map((one) => one.reward));
  const low = Math.min(0, ...panel.deciles.map((one) => one.reward ?? 0));
  const one = panel.unit.slice(0, -1);
  return (
    <div className="scrollx">
      <table className="figures">
        <caption className="small muted">
          tenths of the trajectories by length; credit of a {one}: mean over what{" "}
          {panel.run === null ? "no run yet" : <RunName run={panel.run} />} scored, in reward units, bars to ±
          {number(full)}
        </caption>
        <thead>
          <tr>
            <th scope="col">{panel.unit}</th>
            <th scope="col" className="figure">
              n
            </th>
            <th scope="col" className="figure">
              mean reward
            </th>
            <th scope="col" className="chartcell">
              bars from {low < 0 ? `−${number(rewards)}` : "0"} to {number(rewards)}
            </th>
            <th scope="col" className="figure">
              credit of a {one}
            </th>
            <th scope="col" className="chartcell">
              − <span className="end">+</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {panel.deciles.map((tenth) => (
            <tr key={tenth.tenth}>
              <th scope="row" className="tight">
                <Go
                  to={trajectoryPath(project, tenth.example) + by(panel.run?.id)}
                  title={`the one of median length: ${inline(tenth.example_name)}`}
                >
                  {count(tenth.shortest)}
                  {tenth.longest > tenth.shortest && ` to ${count(tenth.longest)}`}
                </Go>
              </th>
              <td className="figure">{count(tenth.n)}</td>
              <td className="figure">{number(tenth.reward)}</td>
              <td className="chartcell">
                {tenth.reward !== null && <ValueBar value={tenth.reward} {...{ low }} full={rewards} />}
              </td>
              <td className="figure">{tenth.credit === null ? "–" : signed(tenth.credit)}</td>
              <td className="chartcell">{tenth.credit !== null && <ZeroBar value={tenth.credit} full={full} />}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** From the left where nothing is below zero, else from the middle. */
function ValueBar({ value, low, full }: { value: number; low: number; full: number }) {
  if (low < 0) return <ZeroBar {...{ value, full }} />;
  return <ShareBar part={full > 0 ? value / full : 0} />;
}

const by = (run: string | undefined) => writeView({ ...PLAIN, by: run ?? null });

export function Tools({ project, view }: Props) {
  return (
    <Panel
      title="Credit by tool"
      about="what a run gives the calls of each tool, in reward units; the lowest mean first"
      answer={useTools(project, view)}
    >
      {(panel) => (
        <>
          <ToolsHead panel={panel} />
          <Read {...panel} />
          <ToolTable {...{ project, view, panel }} />
        </>
      )}
    </Panel>
  );
}

function ToolsHead({ panel }: { panel: ToolsPanel }) {
  return (
    <p>
      {panel.run && <RunName run={panel.run} />} on {plural(panel.read, "trajectory", "trajectories")}
      {panel.unread > 0 && `, ${count(panel.unread)} of which it did not read`};{" "}
      {panel.elsewhere !== null && (
        <span className="muted">{share(panel.elsewhere)} of all negative credit is on messages and reasoning</span>
      )}
    </p>
  );
}

function ToolTable({ project, view, panel }: Props & { panel: ToolsPanel }) {
  const ranked = panel.items.filter((tool) => tool.ranked);
  const rest = panel.items.filter((tool) => !tool.ranked);
  const full = reach(ranked.flatMap((tool) => [tool.low, tool.high, tool.mean]));
  const row = (tool: ToolCredit) => <ToolRow key={tool.tool} {...{ project, view, tool, full }} run={panel.run?.id} />;
  return (
    <div className="scrollx">
      <table className="figures">
        <caption className="small muted">
          {ranked.length > 0 && `bar: mean credit of a call; line: 5th to 95th percentile; scale ±${number(full)}`}
          {panel.tools > panel.items.length && `; ${count(panel.items.length)} of ${count(panel.tools)} tools`}
        </caption>
        <thead>
          <tr>
            <th scope="col">tool</th>
            <th scope="col" className="chartcell">
              − <span className="end">+</span>
            </th>
            <th scope="col" className="figure">
              mean
            </th>
            <th scope="col" className="figure" title="standard deviation of the scored calls, divided by n − 1">
              spread
            </th>
            <th scope="col" className="figure" title="share of all negative credit of the run that these calls carry">
              of blame
            </th>
            <th scope="col" className="figure">
              calls
            </th>
            <th scope="col" className="figure" title="calls whose result is an error">
              errors
            </th>
          </tr>
        </thead>
        <tbody>{ranked.map(row)}</tbody>
        {rest.length > 0 && (
          <tbody className="unranked">
            <tr>
              <td colSpan={7} className="small muted">
                fewer than {count(panel.least)} scored calls: not ranked, no bar
              </td>
            </tr>
            {rest.map(row)}
          </tbody>
        )}
      </table>
    </div>
  );
}

interface ToolProps extends Props {
  tool: ToolCredit;
  full: number;
  run: string | undefined;
}

function ToolRow({ project, view, tool, full, run }: ToolProps) {
  return (
    <tr>
      <th scope="row">
        <Go to={listOf(project, view, { tool: tool.tool }, run ?? null)} title="the trajectories that called it">
          {shownName(tool.tool)}
        </Go>
      </th>
      <td className="chartcell">
        {tool.ranked && tool.mean !== null && (
          <ZeroBar value={tool.mean} {...{ full }} low={tool.low} high={tool.high} />
        )}
      </td>
      <td className="figure">{tool.mean === null ? "–" : signed(tool.mean)}</td>
      <td className="figure">{tool.sd === null ? "–" : number(tool.sd)}</td>
      <td className="figure">{tool.negative === null ? "–" : share(tool.negative)}</td>
      <td
        className="figure"
        title={`${count(tool.scored)} of them scored, in ${plural(tool.trajectories, "trajectory", "trajectories")}`}
      >
        {count(tool.calls)}
      </td>
      <td className="figure">
        {tool.errors > 0 ? (
          `${share(tool.errors / tool.calls)} (${count(tool.errors)})`
        ) : (
          <span className="muted">0 %</span>
        )}
      </td>
    </tr>
  );
}

export function OffPath({ project, view }: Props) {
  return (
    <Panel
      title="Credit off the path"
      about="entangled credit: part of the size of a run's credit on action spans that the outcome does not rest on"
      answer={useOffPath(project, view)}
    >
      {(panel) => (
        <>
          <Read {...panel} />
          <div className="scrollx">
            <table className="figures">
              <caption className="small muted">
                off the path: no way along edges of weight {panel.min_weight} and more to the reward, the final answer
                or a call that changed state; the thin line is the share of such spans, where even credit would be
              </caption>
              <thead>
                <tr>
                  <th scope="col">run</th>
                  <th scope="col" className="chartcell">
                    0 <span className="end">100 %</span>
                  </th>
                  <th scope="col" className="figure">
                    off path
                  </th>
                  <th scope="col" className="figure" title="scored action spans off the path, of all scored">
                    spans off
                  </th>
                  <th
                    scope="col"
                    className="figure"
                    title="trajectories of two scored spans and more that all get the same number: the run cannot tell them apart"
                  >
                    flat
                  </th>
                  <th scope="col">most in</th>
                </tr>
              </thead>
              <tbody>
                {panel.items.map((row) => (
                  <tr key={row.run.id}>
                    <th scope="row">
                      <Go to={listOf(project, view, {}, row.run.id)} title="the list with this run's credit">
                        <RunName run={row.run} />
                      </Go>
                    </th>
                    <td className="chartcell">
                      {row.share !== null && (
                        <ShareBar part={row.share} tone="blame" {...(row.spans ? { mark: row.off / row.spans } : {})} />
                      )}
                    </td>
                    <td className="figure">
                      {row.share === null ? <span title="every number is 0">–</span> : share(row.share)}
                    </td>
                    <td className="figure muted">
                      {count(row.off)} of {count(row.spans)}
                    </td>
                    <td className="figure muted">
                      {count(row.flat)} of {count(row.compared)}
                    </td>
                    <td>
                      {row.most !== null && (
                        <Go to={trajectoryPath(project, row.most) + by(row.run.id)} className="cutname">
                          {inline(row.most_name ?? "")}
                        </Go>
                      )}
                    </td>
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
