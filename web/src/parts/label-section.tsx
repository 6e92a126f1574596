import { useEffect, useRef, useState } from "react";
import "../styles/labels.css";
import type { Label } from "../api";
import { useKeys } from "../keys";
import { giveLabels, useLabels } from "../label-queries";
import { notice } from "../notice";
import { useLabeller } from "../preferences";
import { when } from "../pure/format";
import { labelRow, VERDICT_WORDS, VERDICTS, type Verdict } from "../pure/labels";
import { inline, visible } from "../pure/visible";
import { AskLabeller } from "./labeller";
import { Trouble } from "./trouble";
import { NoteField, Verdicts } from "./verdicts";

interface Props {
  project: string;
  trajectory: string;
  span: number;
}

const HERE = { blind: false, seconds: null, queue: null };

/** What people say of a span, and the words to say it with: saved as they are given, never as blind. */
export function LabelSection({ project, trajectory, span }: Props) {
  const name = useLabeller();
  const found = useLabels(project, trajectory);
  const here = (found.data ?? []).filter((label) => label.span === span);
  const own = here.find((label) => label.labeller === name) ?? null;
  const [asking, setAsking] = useState(false);
  const [note, setNote] = useState<string | null>(null);
  const field = useRef<HTMLInputElement>(null);
  const send = async (verdict: Verdict | null, text: string) => {
    const row = labelRow(trajectory, span, name, { verdict, note: text }, HERE, own);
    try {
      await giveLabels(project, [row]);
      notice(verdict === null ? `s${span}: taken back.` : `s${span}: ${VERDICT_WORDS[verdict]}, saved.`);
      setNote((now) => (now?.trim() === text.trim() ? null : now)); // what was typed meanwhile stays
    } catch (error) {
      notice(`Not saved: ${error instanceof Error ? error.message : String(error)}`);
    }
  };
  const text = note ?? own?.note ?? "";
  const say = (verdict: Verdict) => {
    if (name === "") setAsking(true);
    else void send(own?.verdict === verdict ? null : verdict, text);
  };
  const keep = () => {
    if (own && text.trim() !== (own.note ?? "")) void send(own.verdict, text);
    else if (!own && text.trim()) notice("A note is kept with a verdict: 1 to 4.");
  };
  useKeys({
    ...Object.fromEntries(VERDICTS.map((verdict, i) => [String(i + 1), () => say(verdict)])),
    m: () => (name === "" ? setAsking(true) : field.current?.focus()),
  });
  useEffect(() => {
    if (name !== "") setAsking(false);
  }, [name]);
  return (
    <section aria-label="Label">
      <h3>
        Label <span className="muted">given here it counts as not blind</span>
      </h3>
      {found.error && !found.data && <Trouble error={found.error} what="labels" />}
      <Verdicts said={own?.verdict ?? null} onSay={say} />
      {asking && <AskLabeller />}
      {name !== "" && <NoteField field={field} note={text} onNote={setNote} onDone={keep} />}
      <ul className="labelled">
        {here.map((label) => (
          <li key={label.labeller}>
            <Said label={label} own={label.labeller === name} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function Said({ label, own }: { label: Label; own: boolean }) {
  return (
    <>
      <b className={`verdictword ${label.verdict}`}>{VERDICT_WORDS[label.verdict]}</b> by{" "}
      {own ? "you" : inline(label.labeller)}, {when(label.at)}
      {label.blind && <span className="muted">, blind</span>}
      {label.note && <>: {visible(label.note)}</>}
    </>
  );
}
