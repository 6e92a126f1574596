import type { Ref } from "react";
import type { Trajectory } from "../api";
import type { Desk } from "../desk";
import { at } from "../pure/graph";
import { VERDICT_WORDS, type Words } from "../pure/labels";
import { PLAIN, trajectoryPath, writeView } from "../pure/url";
import { inline, visible } from "../pure/visible";
import { spokenKind } from "../pure/words";
import { Go } from "./go";
import { SpanLink } from "./span-link";
import { NoteField, Verdicts } from "./verdicts";

interface Props {
  project: string;
  shown: Trajectory;
  selected: number;
  desk: Desk;
  /** What people call the run whose credit is shown; null while none is. */
  run: string | null;
  note: Ref<HTMLInputElement>;
  onSelect: (span: number) => void;
  onHelp: () => void;
}

/** The words on the span that is looked at, those given so far, and the way on. */
export function SittingPanel({ project, shown, selected, desk, run, note, onSelect, onHelp }: Props) {
  const word = desk.words.get(selected);
  return (
    <aside className="panel" aria-label="Verdicts">
      <header className="panelhead">
        <h2>
          <span className="no">s{selected}</span> {spokenKind(at(shown.kind, selected), shown.name[selected])}
        </h2>
        <button type="button" aria-label="keys" onClick={onHelp}>
          ?
        </button>
      </header>
      {at(shown.is_action, selected) ? (
        <section aria-label="Verdict">
          <Verdicts said={word?.verdict ?? null} onSay={desk.say} />
          <NoteField field={note} note={word?.note ?? ""} onNote={desk.note} />
        </section>
      ) : (
        <p className="muted">An observation: only what the policy wrote gets a verdict.</p>
      )}
      <Given words={desk.words} unsaved={desk.unsaved} onSelect={onSelect} />
      <WayOn desk={desk} shows={run !== null} />
      <Blindness desk={desk} run={run} />
      {run !== null && (
        <p>
          <Go to={trajectoryPath(project, shown.id) + writeView({ ...PLAIN, span: selected })}>
            Why it has this credit
          </Go>
        </p>
      )}
    </aside>
  );
}

interface GivenProps {
  words: Words;
  unsaved: number[];
  onSelect: (span: number) => void;
}

/** The verdicts on this rollout, those that are not saved yet marked. */
function Given({ words, unsaved, onSelect }: GivenProps) {
  const said = [...words].filter(([span, word]) => word.verdict !== null || unsaved.includes(span));
  if (said.length === 0)
    return <p className="muted">No verdict yet. Name the one choice that lost it, if there is one.</p>;
  return (
    <ul className="labelled" aria-label="Verdicts on this rollout">
      {said
        .sort(([a], [b]) => a - b)
        .map(([span, word]) => (
          <li key={span}>
            <SpanLink span={span} onSelect={onSelect} />{" "}
            {word.verdict === null ? (
              <span className="muted">taken back</span>
            ) : (
              <b className={`verdictword ${word.verdict}`}>{VERDICT_WORDS[word.verdict]}</b>
            )}
            {word.note.trim() && <>: {visible(word.note)}</>}
            {unsaved.includes(span) && <span className="muted"> · not saved</span>}
          </li>
        ))}
    </ul>
  );
}

function WayOn({ desk, shows }: { desk: Desk; shows: boolean }) {
  return (
    <div className="saving">
      <button type="button" className="primary" disabled={desk.busy} onClick={desk.finish}>
        {desk.done && desk.unsaved.length === 0 ? "Next" : "Save and next"} <Key>s</Key>
      </button>
      {!shows && (
        <button type="button" disabled={desk.busy} onClick={desk.look}>
          Save and show the credit <Key>S</Key>
        </button>
      )}
      <button type="button" className="quiet" disabled={desk.busy} onClick={desk.pass}>
        Pass over <Key>x</Key>
      </button>
    </div>
  );
}

function Key({ children }: { children: string }) {
  return (
    <span className="key" aria-hidden="true">
      {children}
    </span>
  );
}

function Blindness({ desk, run }: { desk: Desk; run: string | null }) {
  const shown = run === null ? "" : ` The bars are those of ${inline(run)}.`;
  return (
    <p className="muted small">
      {run !== null || desk.seen.current
        ? `The credit of this rollout was shown: labels given from now on count as not blind.${shown}`
        : "The credit is hidden until you have saved: labels count as blind."}
    </p>
  );
}
