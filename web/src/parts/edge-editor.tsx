import { useEffect, useRef, useState } from "react";
import type { EdgeEvidence, Run, Trajectory } from "../api";
import { alike, type Editing } from "../editing";
import { setLabeller, useLabeller } from "../preferences";
import { type Draft, draftKey, sourceOf } from "../pure/edits";
import { number, plural } from "../pure/format";
import { at } from "../pure/graph";
import type { Show } from "../pure/url";
import { inline, visible } from "../pure/visible";
import { spokenKind } from "../pure/words";
import { running, useEvidence } from "../queries";
import { PreviewTable } from "./edge-preview";
import { useRun } from "./score-now";
import { SpanLink } from "./span-link";
import { Trouble } from "./trouble";

interface Props {
  project: string;
  trajectory: Trajectory;
  span: number | null;
  editing: Editing;
  /** The run on screen: what the preview scores again, and what is run after saving. */
  run: Run | null;
  show: Show;
  onSelect: (span: number) => void;
  onRan: (run: string) => void;
  onClose: () => void;
}

/** Edges of the selected span removed and added, with a reason; what the run would say; saved, or saved and run. */
export function EdgeEditor(props: Props) {
  const { project, trajectory, span, editing, run, show, onSelect, onRan, onClose } = props;
  const [{ data: started }, start] = useRun(project, onRan);
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);
  const busy = editing.save.isPending || start.isPending || (started !== undefined && running(started));
  return (
    <section className="editor" aria-label="Edit edges">
      <header className="panelhead">
        <h2 ref={heading} tabIndex={-1}>
          Edit edges
        </h2>
        <button type="button" className="quiet" onClick={onClose} aria-label="stop editing edges">
          ✕
        </button>
      </header>
      <p className="muted small">
        What you say stands beside what was derived, which stays stored. Runs that scored this trajectory become stale.
      </p>
      {span === null ? (
        <p>Select the span whose edges are wrong.</p>
      ) : (
        <>
          <h3>
            <span className="no">s{span}</span> {spokenKind(at(trajectory.kind, span), trajectory.name[span])}
          </h3>
          <OwnEdges {...props} span={span} />
          <Adding key={span} span={span} editing={editing} />
        </>
      )}
      <Changes editing={editing} onSelect={onSelect} />
      {(editing.drafts.length > 0 || busy) && <Saving {...props} {...{ start, started, busy }} />}
      {editing.save.error && <Trouble error={editing.save.error} what="not saved" />}
      {start.error && <Trouble error={start.error} what="saved, but no run was started" />}
      {started?.state === "failed" && <p className="trouble">{visible(started.error ?? "the run failed")}</p>}
      {editing.preview.error && <Trouble error={editing.preview.error} what="no preview" />}
      {editing.seen && run && (
        <PreviewTable seen={editing.seen} show={show} trajectory={trajectory} onSelect={onSelect} />
      )}
    </section>
  );
}

/** What the span is fed by and feeds, each edge to be removed or put back. */
function OwnEdges({ project, trajectory, span, editing, onSelect }: Props & { span: number }) {
  const found = useEvidence(project, trajectory.id, span);
  if (found.error && !found.data) return <Trouble error={found.error} what={`the edges of s${span}`} />;
  if (!found.data) return <p className="muted">…</p>;
  const gone = (editing.saved?.in_force ?? []).filter((one) => one.saying.action === "remove");
  const list = (title: string, edges: EdgeEvidence[], own: "parent" | "child") => {
    const other = own === "child" ? "parent" : "child";
    const removed = gone.filter((one) => one.saying[own] === span);
    return (
      <section className="edges" aria-label={`${title} (editing)`}>
        <h4>{title}</h4>
        {edges.length + removed.length === 0 && <p className="muted">nothing</p>}
        <ul>
          {edges.map((edge) => (
            <Line key={draftKey(edge)} {...{ edge, other, editing, onSelect }} />
          ))}
          {removed.map(({ saying, derived }) => (
            <li key={draftKey(saying)} className="edgeline">
              <SpanLink span={saying[other]} onSelect={onSelect} />
              <span>
                <s>{derived ? `${derived.kind}: ${said(derived)}` : "what was derived"}</s>{" "}
                <span className="muted small">
                  removed{saying.person && ` by ${inline(saying.person)}`}: {inline(saying.reason)}
                </span>
              </span>
              {saying.number !== null && (
                <Toggle editing={editing} pair={saying} action="withdraw" word="put back" named={`s${saying[other]}`} />
              )}
            </li>
          ))}
        </ul>
      </section>
    );
  };
  return (
    <>
      {list("Fed by", found.data.fed_by, "child")}
      {list("Feeds", found.data.feeds, "parent")}
    </>
  );
}

interface LineProps {
  edge: EdgeEvidence;
  other: "parent" | "child";
  editing: Editing;
  onSelect: (span: number) => void;
}

function Line({ edge, other, editing, onSelect }: LineProps) {
  const drafted = editing.drafts.some((draft) => draftKey(draft) === draftKey(edge));
  const ours = editing.saved?.in_force.find((one) => draftKey(one.saying) === draftKey(edge));
  const action = ours?.saying.action === "add" && ours.saying.number !== null ? "withdraw" : "remove";
  const words = `${edge.kind}: ${said(edge)}`;
  return (
    <li className={`edgeline${drafted ? " drafted" : ""}`}>
      <SpanLink span={edge[other]} onSelect={onSelect} />
      <span>
        {drafted ? <s>{words}</s> : words} <span className="muted small">weight {number(edge.weight)}</span>
      </span>
      <Toggle
        editing={editing}
        pair={edge}
        action={action}
        word={action === "withdraw" ? "withdraw" : "remove"}
        named={`s${edge[other]}`}
      />
    </li>
  );
}

function said(edge: EdgeEvidence): string {
  const [first] = edge.matches;
  return inline(first ? `“${first.child_text}”` : edge.why).slice(0, 120);
}

interface ToggleProps {
  editing: Editing;
  pair: Pick<Draft, "parent" | "child">;
  action: Draft["action"];
  word: string;
  named: string;
}

/** Drafts a change of one pair, or takes the draft back. */
function Toggle({ editing, pair, action, word, named }: ToggleProps) {
  const drafted = editing.drafts.some((draft) => draftKey(draft) === draftKey(pair));
  const { parent, child } = pair;
  return (
    <button
      type="button"
      aria-pressed={drafted}
      aria-label={`${word} the edge with ${named}`}
      className="toggle"
      onClick={() => (drafted ? editing.drop(pair) : editing.put({ parent, child, action }))}
    >
      {word}
    </button>
  );
}

/** An edge from an earlier span, typed or clicked. */
function Adding({ span, editing }: { span: number; editing: Editing }) {
  const [typed, setTyped] = useState("");
  const source = sourceOf(typed, span);
  if (span === 0) return <p className="muted small">The first span can use no other.</p>;
  return (
    <form
      className="adding"
      onSubmit={(event) => {
        event.preventDefault();
        if (source === null) return;
        editing.put({ parent: source, child: span, action: "add" });
        setTyped("");
      }}
    >
      <label>
        s{span} uses{" "}
        <input
          className="number"
          value={typed}
          placeholder={`s0 to s${span - 1}`}
          aria-invalid={typed.trim() !== "" && source === null}
          aria-describedby="adding-fault"
          onChange={(event) => setTyped(event.target.value)}
        />
      </label>
      <button type="submit" disabled={source === null}>
        Add edge
      </button>
      <button
        type="button"
        className="toggle"
        aria-pressed={editing.picking}
        onClick={() => editing.pick(editing.picking ? null : (one) => setTyped(`s${one}`))}
      >
        {editing.picking ? "click a span…" : "pick in the transcript"}
      </button>
      <span id="adding-fault" className="fault small" role="status">
        {typed.trim() !== "" && source === null && `an earlier span is wanted: s0 to s${span - 1}`}
      </span>
    </form>
  );
}

const WORDS = { add: "add", remove: "remove", withdraw: "back to what was derived:" };

function Changes({ editing, onSelect }: Pick<Props, "editing" | "onSelect">) {
  if (editing.drafts.length === 0) return null;
  return (
    <section aria-label="Changes not saved yet">
      <h4>{plural(editing.drafts.length, "change")}, not saved yet</h4>
      <ul className="drafts">
        {editing.drafts.map((draft) => (
          <li key={draftKey(draft)} className="edgeline">
            <span>{WORDS[draft.action]}</span>
            <span>
              <SpanLink span={draft.parent} onSelect={onSelect} /> → <SpanLink span={draft.child} onSelect={onSelect} />
            </span>
            <button
              type="button"
              aria-label={`undo the change of s${draft.parent} → s${draft.child}`}
              onClick={() => editing.drop(draft)}
            >
              undo
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

interface SavingProps extends Props {
  start: ReturnType<typeof useRun>[1];
  started: Run | undefined;
  busy: boolean;
}

/** Reason and name, and what is done with the changes. */
function Saving({ editing, run, start, started, busy, onClose }: SavingProps) {
  const [reason, setReason] = useState("");
  const [name, setName] = useState(useLabeller());
  const complete = reason.trim() !== "" && name.trim() !== "" && !busy;
  const save = (then: () => void) => {
    setLabeller(name);
    editing.save.mutate({ reason: reason.trim(), person: name.trim() }, { onSuccess: then });
  };
  return (
    <form className="saving" onSubmit={(event) => event.preventDefault()}>
      <div className="act">
        <button
          type="button"
          disabled={run === null || editing.preview.isPending}
          onClick={() => run && editing.preview.mutate({ run: run.id, changes: editing.drafts })}
        >
          {editing.preview.isPending ? "Scoring…" : run ? `Preview in ${called(run)}` : "Preview"}
        </button>
        {run === null && <span className="muted small">choose a run in “by” to preview it</span>}
      </div>
      <label>
        reason <span className="muted small">(required)</span>
        <textarea rows={2} maxLength={2000} value={reason} onChange={(event) => setReason(event.target.value)} />
      </label>
      <label>
        your name <span className="muted small">(required)</span>
        <input value={name} maxLength={200} autoComplete="name" onChange={(event) => setName(event.target.value)} />
      </label>
      <div className="act">
        <button type="button" className="primary" disabled={!complete} onClick={() => save(onClose)}>
          Save
        </button>
        <button
          type="button"
          disabled={!complete || run === null}
          onClick={() => save(() => run && start.mutate(alike(run)))}
        >
          {busy ? "Saving…" : `Save and run ${run ? inline(run.label) : ""} again`}
        </button>
      </div>
      {started && running(started) && (
        <p role="status">
          {started.state}: {started.done} of {started.total}
        </p>
      )}
    </form>
  );
}

const called = (run: Run) => inline(`${run.label} #${run.number}`);
