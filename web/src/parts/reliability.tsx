import { useSearch } from "wouter/use-browser-location";
import { type Judging, useJudgings, useTrust } from "../api-judges";
import { go } from "../location";
import { count, plural, when } from "../pure/format";
import {
  advice,
  type Estimate,
  figure,
  interval,
  judgingName,
  readTrust,
  type Trust,
  type TrustView,
  warnings,
  writeTrust,
} from "../pure/judges";
import { inline } from "../pure/visible";
import { ReliabilityCurve } from "./reliability-curve";
import { Trouble } from "./trouble";

interface Props {
  project: string;
  judging: Judging;
}

/** What has to be known first, then whether scores foretell outcomes, then habits and agreement. */
export function Reliability({ project, judging }: Props) {
  const view = readTrust(useSearch());
  const change = (part: Partial<TrustView>) => go(location.pathname + writeTrust({ ...view, ...part }), "replace");
  const { against, repeat } = view;
  const trust = useTrust(project, judging, { against, repeat });
  const others = (useJudgings(project, null).data?.items ?? []).filter(
    (one) => one.id !== judging.id && one.judged > 0,
  );
  return (
    <>
      <Beside {...{ judging, others, view }} onChange={change} />
      {trust.error ? (
        <Trouble error={trust.error} what="reliability" />
      ) : trust.data ? (
        <div className={trust.isPlaceholderData ? "trust busy" : "trust"}>
          <Report trust={trust.data} bins={view.bins} others={others} />
        </div>
      ) : (
        <p className="muted" role="status">
          Working it out…
        </p>
      )}
    </>
  );
}

interface BesideProps {
  judging: Judging;
  others: Judging[];
  view: TrustView;
  onChange: (part: Partial<TrustView>) => void;
}

/** Other judgings that it is held against. */
function Beside({ judging, others, view, onChange }: BesideProps) {
  const choose = (what: "against" | "repeat", said: string, offered: Judging[]) => (
    <label>
      {said}{" "}
      <select value={view[what] ?? ""} onChange={(event) => onChange({ [what]: event.target.value || null })}>
        <option value="">none</option>
        {view[what] !== null && offered.every((one) => one.id !== view[what]) && (
          <option value={view[what]}>{inline(view[what])}</option>
        )}
        {offered.map((one) => (
          <option key={one.id} value={one.id}>
            {judgingName(one, when(one.created))}
          </option>
        ))}
      </select>
    </label>
  );
  const same = others.filter((one) => one.judge === judging.judge && one.scale === judging.scale);
  return (
    <div className="beside">
      {choose("against", "held against", others)}
      {choose("repeat", "asked again as", same)}
      <label>
        bins{" "}
        <select value={view.bins} onChange={(event) => onChange({ bins: event.target.value as TrustView["bins"] })}>
          <option value="width">of equal width</option>
          <option value="count">of equal count</option>
        </select>
      </label>
    </div>
  );
}

interface ReportProps {
  trust: Trust;
  bins: TrustView["bins"];
  others: Judging[];
}

function Report({ trust, bins, others }: ReportProps) {
  const said = trust.reliability;
  return (
    <>
      <Warnings trust={trust} />
      <p className="muted small">
        {plural(said.trajectories, "trajectory", "trajectories")} with a score and an outcome in{" "}
        {plural(said.groups, "group")}, {count(said.passed)} passed (outcome of at least {trust.pass_at});{" "}
        {plural(trust.segments, "scored segment")}. In brackets: 95 % intervals of {count(said.draws)} draws of groups.
      </p>
      <h3>Do its last scores foretell outcomes?</h3>
      <Figures rows={outcomeRows(trust)} />
      <div className="curves">
        <ReliabilityCurve title="Scores as they are" of={said.raw} bins={bins} why={said.without.raw} />
        <ReliabilityCurve
          title="Calibrated on other groups"
          of={said.calibrated}
          bins={bins}
          why={said.without.calibrated}
        />
      </div>
      <Habits trust={trust} />
      <Agreements {...{ trust, others }} />
      {trust.remarks.map((remark) => (
        <p key={remark} className="muted small">
          {inline(remark)}
        </p>
      ))}
    </>
  );
}

function Warnings({ trust }: { trust: Trust }) {
  const told = warnings(trust);
  return (
    <div className="verdict">
      {told.length > 0 && (
        <ul aria-label="Warnings">
          {told.map(({ text, grave }) => (
            <li key={text} className={grave ? "grave" : ""}>
              <b>{grave ? "Warning" : "Note"}</b> {inline(text)}
            </li>
          ))}
        </ul>
      )}
      <p>
        <b>{advice(trust)}</b>
      </p>
    </div>
  );
}

type Line = [name: string, estimate: Estimate, meaning: string, sign?: boolean];

function outcomeRows({ reliability: said }: Trust): Line[] {
  const rows: Line[] = [["AUC", said.auc, "chance that a run that passed has the larger score, 0 to 1; 0.5 is a coin"]];
  for (const [name, of] of [
    ["as they are", said.raw],
    ["calibrated", said.calibrated],
  ] as const) {
    if (of === null) continue;
    const ece = of.equal_width;
    rows.push(
      [
        `ECE, ${name}`,
        ece.ece,
        `calibration error, 0 to 1, ten bins of equal width; luck alone ${figure(ece.ece_by_luck)}`,
      ],
      [`Brier score, ${name}`, of.brier, "mean squared error of the score as chance to pass: 0 best, 1 worst"],
    );
  }
  for (const one of said.against_base_rate) {
    const name = one.scores === "raw" ? "as they are" : "calibrated";
    rows.push([
      `Brier minus base rate’s, ${name}`,
      one.difference,
      "above 0: worse than always saying how often runs of other groups pass",
      true,
    ]);
  }
  return rows;
}

function Figures({ rows }: { rows: Line[] }) {
  return (
    <table className="trustfigures">
      <thead>
        <tr>
          <th scope="col">figure</th>
          <th scope="col">value</th>
          <th scope="col">95 % interval</th>
          <th scope="col">what it is</th>
        </tr>
      </thead>
      <tbody>
        {rows.map(([name, estimate, meaning, sign]) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            <td className="figure">{estimate.value === null ? "not told" : figure(estimate.value, sign)}</td>
            <td className="figure">{interval(estimate, sign) ?? "–"}</td>
            <td className="small muted">
              {meaning}
              {estimate.why !== null && <span className="why">{inline(estimate.why)}</span>}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Habits({ trust }: { trust: Trust }) {
  const { position, length, without } = trust.reliability;
  const unit = trust.reliability.scale === "state" ? "units of the score" : "units of credit";
  const places: Line[] = position
    ? [
        ["position, all runs", position.slope, `change of a step from the first place to the last, ${unit}`, true],
        ["position, passed", position.passed, "the same in runs that passed", true],
        ["position, failed", position.failed, "the same in runs that failed; alike in both it is a habit", true],
        ["position, ranks", position.rank, "rank correlation of step and place within runs, −1 to 1", true],
      ]
    : [];
  const lengths: Line[] = length
    ? [
        ["length, over all", length.final, "rank correlation of last score and characters, −1 to 1", true],
        [
          "length, equal outcome",
          length.final_within,
          "the same among rollouts of one task and outcome: the bias",
          true,
        ],
        ...(length.segment
          ? [
              [
                "length of segments",
                length.segment,
                "rank correlation of a step and its characters, −1 to 1",
                true,
              ] as Line,
            ]
          : []),
        ...(length.segment_within
          ? [["segments, equal outcome", length.segment_within, "the same at equal task and outcome", true] as Line]
          : []),
      ]
    : [];
  return (
    <>
      <h3>Does it follow place or length?</h3>
      {places.length + lengths.length > 0 && <Figures rows={[...places, ...lengths]} />}
      {!position && <Without part="Position" why={without.position} />}
      {!length && <Without part="Length" why={without.length} />}
    </>
  );
}

function Agreements({ trust, others }: Omit<ReportProps, "bins">) {
  const called = (name: string) => inline(others.find((one) => one.id === name)?.label ?? name);
  const { consistency, agreement, without } = trust.reliability;
  const rows: Line[] = [
    ...(consistency
      ? ([
          ["asked again: spread", consistency.spread, "mean standard deviation of a segment over repeats"],
          ["asked again: same class", consistency.same_class, "share negative, neutral or positive in every repeat"],
          ["asked again: ICC(1,1)", consistency.icc, "share of variance between segments; 1: repeats are identical"],
        ] as Line[])
      : []),
    ...agreement.flatMap((one): Line[] => [
      [
        `with ${called(one.name)}: kappa`,
        one.kappa,
        "Cohen’s, on negative, neutral, positive; 0 as by chance, 1 all agree",
      ],
      [`with ${called(one.name)}: weighted`, one.weighted, "the same, negative and positive twice as far apart"],
      [`with ${called(one.name)}: ranks`, one.spearman, "rank correlation of the numbers, −1 to 1", true],
    ]),
  ];
  return (
    <>
      <h3>Does it say the same again, and the same as others?</h3>
      {rows.length > 0 && <Figures rows={rows} />}
      {!consistency && <Without part="Asked again" why={without.consistency} />}
      {agreement.length === 0 && <Without part="Agreement" why={without.agreement} />}
    </>
  );
}

function Without({ part, why }: { part: string; why: string | undefined }) {
  return (
    <p className="muted">
      {part}: not told{why === undefined ? "" : `, since ${inline(why)}`}.
    </p>
  );
}
