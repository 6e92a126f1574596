import "../styles/dashboard.css";
import { useDash } from "../dashboard";
import { Combobox } from "../parts/combobox";
import { Agreement } from "../parts/dash-agreement";
import { Length, OffPath, Tools } from "../parts/dash-credit";
import { PassAtK, Rewards, Variance } from "../parts/dash-groups";
import { Hits } from "../parts/dash-hits";
import { Modes } from "../parts/dash-modes";
import { Field } from "../parts/filters";
import { Go } from "../parts/go";
import { RunPicker } from "../parts/run-picker";
import { type DashView, listOf, narrowed, WHOLE } from "../pure/dashboard";
import { useRuns } from "../queries";

/** A project at a glance: one filter over all panels, every mark a link to what it counts. */
export function DashboardView({ project }: { project: string }) {
  const [view, change] = useDash();
  return (
    <main className="screen dash">
      <h1 className="hidden">Dashboard</h1>
      <Bar {...{ project, view, change }} />
      <div className="cards">
        <Rewards {...{ project, view, change }} />
        <div className="stack">
          <Variance {...{ project, view }} />
          <PassAtK {...{ project, view }} />
        </div>
        <Length {...{ project, view }} />
        <Tools {...{ project, view }} />
        <div className="stack">
          <Agreement {...{ project, view }} />
          <Hits {...{ project }} />
        </div>
        <OffPath {...{ project, view }} />
        <Modes {...{ project, view }} />
      </div>
    </main>
  );
}

interface BarProps {
  project: string;
  view: DashView;
  change: (part: Partial<DashView>) => void;
}

const STEP = /^-?\d{1,15}$/;

function Bar({ project, view, change }: BarProps) {
  const runs = useRuns(project).data ?? [];
  const step = (end: "first" | "last") => (typed: string) => {
    if (typed === "" || STEP.test(typed)) change({ [end]: typed === "" ? null : Number(typed) });
  };
  return (
    <search className="filters">
      <Field
        label="data set"
        placeholder="any"
        numeric={false}
        value={view.dataset ?? ""}
        onChange={(dataset) => change({ dataset: dataset || null })}
      />
      <Combobox
        {...{ project }}
        what="groups"
        label="group"
        value={view.group ?? ""}
        onChange={(group) => change({ group: group || null })}
      />
      <Field
        label="policy"
        placeholder="any"
        numeric={false}
        value={view.policy ?? ""}
        onChange={(policy) => change({ policy: policy || null })}
      />
      <span className="group">
        <Field label="step from" placeholder="" numeric value={`${view.first ?? ""}`} onChange={step("first")} />
        <Field label="to" placeholder="" numeric value={`${view.last ?? ""}`} onChange={step("last")} />
      </span>
      <RunPicker runs={runs} chosen={view.runs} onChoose={(chosen) => change({ runs: chosen })} />
      <Go to={listOf(project, view)}>List these</Go>
      {narrowed(view) && (
        <button type="button" className="quiet" onClick={() => change({ ...WHOLE, runs: view.runs, sort: view.sort })}>
          clear
        </button>
      )}
    </search>
  );
}
