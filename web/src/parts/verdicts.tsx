import type { Ref } from "react";
import { VERDICT_TITLES, VERDICT_WORDS, VERDICTS, type Verdict } from "../pure/labels";

/** The four words on a span; the one that is said is pressed, and pressing it again takes it back. */
export function Verdicts({ said, onSay }: { said: Verdict | null; onSay: (verdict: Verdict) => void }) {
  return (
    <fieldset className="verdicts">
      <legend className="hidden">Verdict</legend>
      {VERDICTS.map((verdict, i) => (
        <button
          key={verdict}
          type="button"
          className={`verdict ${verdict}`}
          aria-pressed={said === verdict}
          title={VERDICT_TITLES[verdict]}
          onClick={() => onSay(verdict)}
        >
          <span className="key" aria-hidden="true">
            {i + 1}
          </span>{" "}
          {VERDICT_WORDS[verdict]}
        </button>
      ))}
    </fieldset>
  );
}

interface NoteProps {
  field: Ref<HTMLInputElement>;
  note: string;
  onNote: (note: string) => void;
  /** The note is finished: Enter, or the field is left. */
  onDone?: () => void;
}

/** A note on the verdict; Enter and Escape leave the field, so that keys work again. */
export function NoteField({ field, note, onNote, onDone }: NoteProps) {
  return (
    <label className="labelnote">
      note{" "}
      <span className="key" aria-hidden="true">
        m
      </span>{" "}
      <input
        ref={field}
        value={note}
        maxLength={10_000}
        placeholder="why"
        onChange={(event) => onNote(event.target.value)}
        onBlur={onDone}
        onKeyDown={(event) => {
          if (event.key !== "Enter" && event.key !== "Escape") return;
          event.preventDefault();
          event.stopPropagation();
          event.currentTarget.blur();
        }}
      />
    </label>
  );
}
