import { useState } from "react";
import type { Turn } from "../api";
import type { ChangeLabels } from "../desk";
import { setBlind, useBlind } from "../preferences";
import { count, plural } from "../pure/format";
import { type LabelView, OUTCOME_WORDS, OUTCOMES, type Outcome, QUEUE_WORDS, QUEUES, type Queue } from "../pure/labels";
import { inline } from "../pure/visible";
import { AskLabeller } from "./labeller";

interface Props {
  view: LabelView;
  change: ChangeLabels;
  labeller: string;
  turn: Turn | undefined;
}

/** What is labelled, in which order, by whom, and how far that is. */
export function LabelBar({ view, change, labeller, turn }: Props) {
  const blind = useBlind();
  const [renaming, setRenaming] = useState(false);
  const afresh = { trajectory: null, span: null };
  const left = (queue: Queue) => turn && (queue === "random" ? turn.left_random : turn.left_other);
  return (
    <div className="toolbar">
      <span className="group">
        <Tab on={view.show === "queue"} onChoose={() => change({ show: "queue" }, "push")}>
          Queue
        </Tab>
        <Tab on={view.show === "grades"} onChoose={() => change({ show: "grades" }, "push")}>
          Grades
        </Tab>
      </span>
      {view.show === "queue" && labeller !== "" && (
        <>
          <label>
            next by{" "}
            <select
              value={view.queue}
              onChange={(event) => change({ queue: event.target.value as Queue, ...afresh }, "push")}
            >
              {QUEUES.map((queue) => (
                <option key={queue} value={queue}>
                  {QUEUE_WORDS[queue]}
                  {left(queue) !== undefined && ` (${count(left(queue) ?? 0)} left)`}
                </option>
              ))}
            </select>
          </label>
          <label>
            outcome{" "}
            <select
              value={view.outcome}
              onChange={(event) => change({ outcome: event.target.value as Outcome, ...afresh }, "push")}
            >
              {OUTCOMES.map((outcome) => (
                <option key={outcome} value={outcome}>
                  {OUTCOME_WORDS[outcome]}
                </option>
              ))}
            </select>
          </label>
          <button
            type="button"
            className="toggle"
            aria-pressed={blind}
            title="the credit stays hidden until the labels are saved, so that they do not copy it"
            onClick={() => setBlind(!blind)}
          >
            blind
          </button>
          {renaming ? (
            <AskLabeller name={labeller} onDone={() => setRenaming(false)} />
          ) : (
            <button type="button" className="quiet" onClick={() => setRenaming(true)}>
              as {inline(labeller)}
            </button>
          )}
          <span className="end" role="status">
            {turn && `${plural(turn.done, "rollout")} labelled by you, ${count(turn.left)} left in this queue`}
          </span>
        </>
      )}
    </div>
  );
}

function Tab({ on, onChoose, children }: { on: boolean; onChoose: () => void; children: string }) {
  return (
    <button type="button" className="toggle" aria-pressed={on} onClick={onChoose}>
      {children}
    </button>
  );
}
