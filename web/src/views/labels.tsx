import { useEffect } from "react";
import "../styles/labels.css";
import { useSearch } from "wouter/use-browser-location";
import type { ChangeLabels } from "../desk";
import { useTurn } from "../label-queries";
import { go } from "../location";
import { Go } from "../parts/go";
import { Grades } from "../parts/grades";
import { LabelBar } from "../parts/label-bar";
import { AskLabeller } from "../parts/labeller";
import { Sitting } from "../parts/sitting";
import { Trouble } from "../parts/trouble";
import { useLabeller } from "../preferences";
import { type LabelView, NO_LABELS, readLabels, writeLabels } from "../pure/labels";
import { listPath, uploadPath } from "../pure/url";
import { visible } from "../pure/visible";

function useLabelView(): [LabelView, ChangeLabels] {
  const change: ChangeLabels = (part, how = "replace") =>
    go(location.pathname + writeLabels({ ...readLabels(location.search), ...part }), how);
  return [readLabels(useSearch()), change];
}

/** What people say of spans: one rollout at a time, without the credit, and how well runs do on what was said. */
export function LabelsView({ project }: { project: string }) {
  const [view, change] = useLabelView();
  const labeller = useLabeller();
  const turn = useTurn({ project, labeller, queue: view.queue, outcome: view.outcome }, labeller !== "");
  const offered = turn.isPlaceholderData ? null : (turn.data?.trajectory ?? null);
  const waits = view.show === "queue" && view.trajectory === null && offered !== null;
  useEffect(() => {
    if (waits) change({ trajectory: offered });
  });
  return (
    <main className="screen labelling">
      <h1 className="hidden">Labels</h1>
      <LabelBar {...{ view, change, labeller }} turn={turn.data} />
      {view.show === "grades" ? (
        <Grades project={project} />
      ) : labeller === "" ? (
        <div className="asked">
          <h2>Who labels?</h2>
          <p>
            One rollout at a time, its credit hidden: say which choice lost it. Labels grade the runs; no run ever reads
            them.
          </p>
          <AskLabeller />
        </div>
      ) : view.trajectory !== null ? (
        <Sitting
          key={`${view.trajectory} ${labeller}`}
          {...{ project, labeller, view, change }}
          trajectory={view.trajectory}
          turn={turn.data}
        />
      ) : turn.error && !turn.data ? (
        <Trouble error={turn.error} what="the queue" />
      ) : turn.data && turn.data.trajectory === null ? (
        <Nothing {...{ project, view, change }} why={turn.data.why} other={otherLeft(view, turn.data)} />
      ) : (
        <p className="loading">Loading…</p>
      )}
    </main>
  );
}

/** How many wait in a queue that was not asked for. */
function otherLeft(view: LabelView, turn: { left_random: number; left_other: number }): number {
  return view.queue === "random" ? turn.left_other : turn.left_random;
}

interface NothingProps {
  project: string;
  view: LabelView;
  change: ChangeLabels;
  why: string;
  other: number;
}

function Nothing({ project, view, change, why, other }: NothingProps) {
  const another = view.queue === "random" ? "high" : "random";
  return (
    <div className="asked">
      <h2>Nothing to label here</h2>
      <p>{visible(`${why.charAt(0).toUpperCase()}${why.slice(1)}.`)}</p>
      <p className="choicesrow">
        {other > 0 && (
          <button type="button" onClick={() => change({ ...NO_LABELS, outcome: view.outcome, queue: another }, "push")}>
            {another === "random" ? "Look at the random tenth" : "Look at the others"}
          </button>
        )}
        {view.outcome !== "any" && (
          <button type="button" onClick={() => change({ outcome: "any", trajectory: null, span: null }, "push")}>
            Label rollouts of any outcome
          </button>
        )}
        <button type="button" onClick={() => change({ show: "grades" }, "push")}>
          See the grades
        </button>
      </p>
      <p className="muted">
        <Go to={listPath(project)}>All trajectories</Go> · <Go to={uploadPath(project)}>upload more</Go>
      </p>
    </div>
  );
}
