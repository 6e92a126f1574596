import type { Run, Trajectory } from "../api";
import type { How } from "../location";
import { count, number, plural } from "../pure/format";
import { shortName, shownName } from "../pure/name";
import { SCALES, type Scale } from "../pure/scale";
import { FOLDS, type Fold, SHOWS, type Show, type View } from "../pure/url";
import { inline } from "../pure/visible";
import { Go } from "./go";
import { RunChooser } from "./run-chooser";

interface TitleProps {
  trajectory: Trajectory;
  /** Where the export preview shows it. */
  toExport: string;
  /** Where its siblings are. */
  toGroup: string;
  onReport: () => void;
  onLink: () => void;
}

/** Which rollout this is and how it went. */
export function Title({ trajectory, toExport, toGroup, onReport, onLink }: TitleProps) {
  const actions = trajectory.is_action.filter(Boolean).length;
  return (
    <div className="title">
      <h1 title={shownName(trajectory.external_id)}>{shortName(trajectory.external_id)}</h1>
      <span className={`outcome ${grade(trajectory.outcome)}`}>
        {trajectory.outcome === null ? "no reward yet" : `reward ${number(trajectory.outcome)}`}
      </span>
      <span>
        group{" "}
        <Go to={toGroup} title={shownName(trajectory.group)}>
          {shortName(trajectory.group)}
        </Go>
        {trajectory.group_mean !== null && ` mean ${number(trajectory.group_mean)}`}, {trajectory.group_scored} of{" "}
        {trajectory.group_size} scored
      </span>
      <span>
        {plural(trajectory.kind.length, "span")}, {plural(actions, "action")}
        {trajectory.n_tokens !== null && `, ${plural(trajectory.n_tokens, "token")}`}
      </span>
      {trajectory.step !== null && <span>step {count(trajectory.step)}</span>}
      {trajectory.policy_version !== null && <span>policy {inline(trajectory.policy_version)}</span>}
      {trajectory.model !== null && <span>model {inline(trajectory.model)}</span>}
      <button type="button" className="quiet" onClick={onReport}>
        {trajectory.report.length > 0 ? plural(trajectory.report.length, "note") : "report"}
      </button>
      <span className="end">
        <Go to={toExport} className="button">
          Export preview
        </Go>
        <button type="button" onClick={onLink}>
          Copy link
        </button>
      </span>
    </div>
  );
}

function grade(outcome: number | null): string {
  if (outcome === null) return "unscored";
  return outcome > 0 ? "good" : "bad";
}

interface BarProps {
  project: string;
  runs: Run[];
  view: View;
  change: (part: Partial<View>, how?: How) => void;
  open: "by" | "vs" | null;
  setOpen: (open: "by" | "vs" | null) => void;
  byRun: string | null;
  vsRun: string | null;
  /** The scale in force, which the data set's is not where it is not known. */
  scale: Scale;
  hasDataset: boolean;
}

const SCALE_WORDS: Record<Scale, string> = { trajectory: "this trajectory", one: "±1", dataset: "data set, p99" };
const FOLD_WORDS: Record<Fold, string> = { think: "reasoning", result: "results" };

/** What is shown: by which run, beside which, on which scale, what is folded. */
export function Toolbar(props: BarProps) {
  const { project, runs, view, change, open, setOpen } = props;
  const fold = (one: Fold) =>
    change({ fold: FOLDS.filter((f) => (f === one ? !view.fold.includes(f) : view.fold.includes(f))) });
  return (
    <div className="toolbar">
      <RunChooser
        {...{ project, runs }}
        name="by"
        empty="choose a run"
        shown={props.byRun}
        open={open === "by"}
        onOpen={(is) => setOpen(is ? "by" : null)}
        onChoose={(run) => change({ by: run }, "push")}
      />
      <RunChooser
        {...{ project, runs }}
        name="beside"
        empty="nothing"
        none="nothing"
        shown={view.vs === null ? null : props.vsRun}
        open={open === "vs"}
        onOpen={(is) => setOpen(is ? "vs" : null)}
        onChoose={(run) => change({ vs: run, diff: run === null ? false : view.diff }, "push")}
      />
      {view.vs !== null && (
        <Toggle on={view.diff} onToggle={() => change({ diff: !view.diff })}>
          difference
        </Toggle>
      )}
      <label>
        show{" "}
        <select value={view.show} onChange={(event) => change({ show: event.target.value as Show })}>
          {SHOWS.map((show) => (
            <option key={show}>{show}</option>
          ))}
        </select>
      </label>
      <label>
        scale{" "}
        <select value={props.scale} onChange={(event) => change({ scale: event.target.value as Scale })}>
          {SCALES.map((scale) => (
            <option key={scale} value={scale} disabled={scale === "dataset" && !props.hasDataset}>
              {SCALE_WORDS[scale]}
            </option>
          ))}
        </select>
      </label>
      <span className="group">
        fold
        {FOLDS.map((one) => (
          <Toggle key={one} on={view.fold.includes(one)} onToggle={() => fold(one)}>
            {FOLD_WORDS[one]}
          </Toggle>
        ))}
      </span>
      <Toggle
        on={view.view === "cone"}
        onToggle={() => change({ view: view.view === "cone" ? "rail" : "cone" })}
        title="what the selected span rests on and what rests on it, in layers"
      >
        cone
      </Toggle>
    </div>
  );
}

interface ToggleProps {
  on: boolean;
  onToggle: () => void;
  title?: string;
  children: string;
}

function Toggle({ on, onToggle, title, children }: ToggleProps) {
  return (
    <button type="button" className="toggle" aria-pressed={on} title={title} onClick={onToggle}>
      {children}
    </button>
  );
}
