/** What a judging is called on screen, how its reliability reads, and the link that scores with it. */

import { count, number, plural, signed } from "./format";
import { inline } from "./visible";

/** A figure with its 95 % interval; null with a reason where it cannot be told (docs/judges.md). */
export interface Estimate {
  value: number | null;
  low: number | null;
  high: number | null;
  n: number;
  groups: number;
  why: string | null;
}

export interface Bin {
  low: number;
  high: number;
  n: number;
  score: number;
  passed: Estimate;
}

export interface Curve {
  bins: Bin[];
  ece: Estimate;
  ece_by_luck: number;
  mce: Estimate;
}

export interface Calibration {
  equal_width: Curve;
  equal_count: Curve;
  brier: Estimate;
}

export interface BaseRate {
  scores: "raw" | "calibrated";
  verdict: "worse" | "not_told_from" | "better" | "too_few" | "one_outcome";
  difference: Estimate;
  skill: Estimate;
  base: number | null;
  says: string;
}

export interface Agreement {
  name: string;
  kappa: Estimate;
  weighted: Estimate;
  spearman: Estimate;
  confusion: number[][];
  dead_zone: number;
}

/** What GET /judgings/{id}/reliability answers, as docs/judges.md has it. */
export interface Trust {
  judge: string;
  pass_at: number;
  asked: number;
  segments: number;
  reliability: {
    scale: "state" | "credit";
    trajectories: number;
    groups: number;
    passed: number;
    unscored: number;
    no_outcome: number;
    auc: Estimate;
    raw: Calibration | null;
    calibrated: Calibration | null;
    against_base_rate: BaseRate[];
    position: { slope: Estimate; passed: Estimate; failed: Estimate; rank: Estimate } | null;
    length: {
      final: Estimate;
      final_within: Estimate;
      segment: Estimate | null;
      segment_within: Estimate | null;
    } | null;
    consistency: { repeats: number; spread: Estimate; same_class: Estimate; icc: Estimate } | null;
    agreement: Agreement[];
    without: Record<string, string>;
    draws: number;
  };
  remarks: string[];
}

export const SCALE_WORDS = {
  state: "state, 0 to 1: how things stand after a segment",
  credit: "credit, −1 to 1: what a segment did",
};

/** A score of a judge with the range it is on. */
export const scored = (score: number | null, scale: "state" | "credit") =>
  score === null ? "no opinion" : scale === "state" ? `${number(score)} of 0 to 1` : `${signed(score)} of −1 to 1`;

/** Three decimals, as the command line prints figures of reliability. */
export function figure(value: number | null, sign = false): string {
  if (value === null) return "–";
  const text = Math.abs(value).toFixed(3);
  if (Number(text) === 0) return "0.000";
  return (value < 0 ? "−" : sign ? "+" : "") + text;
}

/** `[0.439, 0.762]`; null where there is no interval. */
export function interval({ low, high }: Estimate, sign = false): string | null {
  return low === null || high === null ? null : `[${figure(low, sign)}, ${figure(high, sign)}]`;
}

export interface Warning {
  text: string;
  /** Whether scores are known to mislead; else something is left open. */
  grave: boolean;
}

/** What has to be known before the scores are used, the worst first; the command line says the same. */
export function warnings({ reliability: said }: Trust): Warning[] {
  const told: Warning[] = [];
  for (const one of said.against_base_rate) {
    const which = one.scores === "raw" ? "its scores" : "its calibrated scores";
    if (one.verdict === "worse" || one.verdict === "not_told_from") {
      told.push({ text: one.says, grave: one.verdict === "worse" });
    } else if (one.verdict !== "better") {
      told.push({
        text: `${which} were not held against the base rate: ${one.difference.why ?? one.says}`,
        grave: false,
      });
    }
  }
  if (said.unscored > 0) {
    const of = said.unscored + said.trajectories + said.no_outcome;
    told.push({
      text: `${count(said.unscored)} of ${plural(of, "trajectory", "trajectories")} have no score: not judged, or without any opinion`,
      grave: false,
    });
  }
  if (said.no_outcome > 0) {
    told.push({
      text: `${plural(said.no_outcome, "scored trajectory", "scored trajectories")} without an outcome: in no figure on outcomes`,
      grave: false,
    });
  }
  return told.sort((a, b) => Number(b.grave) - Number(a.grave));
}

/** What follows for who wants to use the scores, in the words of `trajcredit trust`. */
export function advice({ reliability: said }: Trust): string {
  const of = (scores: BaseRate["scores"]) => said.against_base_rate.find((one) => one.scores === scores)?.verdict;
  const [raw, calibrated] = [of("raw"), of("calibrated")];
  if (calibrated === "better" && raw === "better") {
    return "Its scores tell more of outcomes than the base rate, as they are and calibrated (judge:calibrate=true).";
  }
  if (calibrated === "better") return "Its scores tell of outcomes once they are calibrated: judge:calibrate=true.";
  if (calibrated === "too_few" || calibrated === "one_outcome") {
    return "Nothing here says whether its scores tell of outcomes: read its reasons, do not train on them.";
  }
  return "Its scores are not known to tell anything of outcomes here: read its reasons, do not train on them.";
}

/** Where a bin stands in a square of that side, y downwards: its mean score against the share that passed. */
export interface Point {
  x: number;
  y: number;
  /** Ends of the interval; null where there is none. */
  top: number | null;
  bottom: number | null;
  radius: number;
  bin: Bin;
}

/** Points of a curve in the order of their scores; a point's area follows how many trajectories it is of. */
export function points({ bins }: Curve, side: number): Point[] {
  const most = Math.max(1, ...bins.map((bin) => bin.n));
  const down = (share: number | null) => (share === null ? null : side * (1 - share));
  return bins.flatMap((bin) => {
    const y = down(bin.passed.value);
    if (y === null) return [];
    const radius = 3 + 5 * Math.sqrt(bin.n / most);
    return [{ x: side * bin.score, y, top: down(bin.passed.high), bottom: down(bin.passed.low), radius, bin }];
  });
}

interface Counted {
  state: string;
  total: number;
  judged: number;
  missing: number;
}

/** "38 judged, 2 not judged of 40 trajectories"; what was not asked about yet is said apart. */
export function counts({ state, total, judged, missing }: Counted): string {
  if (total === 0) return state === "queued" ? "not begun" : "reading the trajectories";
  const left = total - judged - missing;
  const parts = [`${count(judged)} judged`];
  if (missing > 0) parts.push(`${count(missing)} could not be judged`);
  if (left > 0) parts.push(`${count(left)} not asked about yet`);
  return `${parts.join(", ")}, of ${plural(total, "trajectory", "trajectories")}`;
}

interface Outlay {
  requests: number;
  cached: number;
  uncounted: number;
  tokens_in: number;
  tokens_out: number;
  cost: number;
}

/** What a judging took; null where no model was asked. */
export function outlay(of: Outlay): string | null {
  if (of.requests === 0 && of.cached === 0) return null;
  const parts = [plural(of.requests, "request")];
  if (of.cached > 0) parts.push(`${count(of.cached)} answered from before`);
  parts.push(`tokens ${count(of.tokens_in)} in, ${count(of.tokens_out)} out`);
  if (of.uncounted > 0) parts.push(`${plural(of.uncounted, "answer")} with tokens not counted`);
  if (of.cost > 0) parts.push(`cost ${number(of.cost)} in the unit of the prices`);
  return parts.join("; ");
}

interface About {
  judge: string;
  dataset: string | null;
}

/** A judging of that judge was uploaded: nobody was asked here. */
const UPLOADED = "file";

/** What it is about. */
export const whole = ({ judge, dataset }: About) =>
  dataset !== null ? `data set ${dataset}` : judge === UPLOADED ? "those uploaded" : "all trajectories";

/** What is said where no model was asked. */
export const unpaid = ({ judge }: Pick<About, "judge">) =>
  judge === UPLOADED ? "uploaded: nobody was asked here" : "no model asked";

/** A run that is about to be asked for: what the form begins with. */
export interface NewRun {
  attributor: string;
  parameters: Record<string, string>;
  dataset: string | null;
}

const PARAMETER = "p.";

export function readNewRun(search: string): NewRun | null {
  const given = new URLSearchParams(search);
  const attributor = given.get("new");
  if (!attributor) return null;
  const own = [...given]
    .filter(([name, value]) => name.startsWith(PARAMETER) && name !== PARAMETER && value)
    .map(([name, value]) => [name.slice(PARAMETER.length), value]);
  return { attributor, parameters: Object.fromEntries(own), dataset: given.get("dataset") || null };
}

export function writeNewRun(run: NewRun): string {
  const out = new URLSearchParams({ new: run.attributor });
  for (const [name, value] of Object.entries(run.parameters)) if (value) out.set(PARAMETER + name, value);
  if (run.dataset) out.set("dataset", run.dataset);
  return `?${out}`;
}

/** The run that hears a judging, about what it judged. */
export const scoreWith = (judging: { id: string; dataset: string | null }) =>
  writeNewRun({ attributor: "judge", parameters: { judge: judging.id }, dataset: judging.dataset });

/** What a judging is told apart by: two of one judge have one label. */
export const judgingName = (judging: { label: string; created: string }, when: string) =>
  `${inline(judging.label)}, ${when}`;

interface Segment {
  spans: number[];
  actions: number[];
}

/** "s3", or "s3, s4" where more was judged as one. */
export const spansOf = ({ spans }: Segment) => spans.map((span) => `s${span}`).join(", ");

/** The segments of an opinion that a span is in. */
export const about = <S extends Segment>(segments: readonly S[], span: number): S[] =>
  segments.filter((one) => one.spans.includes(span) || one.actions.includes(span));

/** What no request may name: files of the server's machine. */
export const hidden = (parameter: string) => parameter === "path";

interface Offer {
  segments: string[];
  models: { name: string; model: string }[];
}

/** The values of a parameter, with what they are called, where they are few and known; null where it is typed. */
export function choices(parameter: { name: string; type: string }, offer: Offer): [string, string][] | null {
  if (parameter.name === "segments") return offer.segments.map((one) => [one, one]);
  if (parameter.name === "model") return offer.models.map(({ name, model }) => [name, `${name} (${model})`]);
  const words = parameter.type.split(" | ");
  if (words.some((word) => TYPES.has(word)) || words.length < 2) return null;
  return words.map((one) => [one, one]);
}
const TYPES = new Set(["str", "int", "float", "bool", "none"]);

/** Where a page of judgings begins, as the server said it; null: with the newest. */
export const readCursor = (search: string) => new URLSearchParams(search).get("from") || null;
export const writeCursor = (cursor: string) => `?${new URLSearchParams({ from: cursor })}`;

/** How a judging's reliability is looked at. */
export interface TrustView {
  /** Another judging that it is held against. */
  against: string | null;
  /** A judging of the same judge, asked again. */
  repeat: string | null;
  bins: "width" | "count";
}

export function readTrust(search: string): TrustView {
  const given = new URLSearchParams(search);
  return {
    against: given.get("against") || null,
    repeat: given.get("repeat") || null,
    bins: given.get("bins") === "count" ? "count" : "width",
  };
}

export function writeTrust({ against, repeat, bins }: TrustView): string {
  const out = new URLSearchParams();
  if (against) out.set("against", against);
  if (repeat) out.set("repeat", repeat);
  if (bins !== "width") out.set("bins", bins);
  const text = out.toString();
  return text ? `?${text}` : "";
}
