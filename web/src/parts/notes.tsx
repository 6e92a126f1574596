import type { Note } from "../api";
import { inline } from "../pure/visible";
import { SpanLink } from "./span-link";

/** What a reader, the graph or a run guessed, repaired or left out. */
export function Notes({ notes, onSelect }: { notes: readonly Note[]; onSelect?: (span: number) => void }) {
  return (
    <ul className="notes">
      {notes.slice(0, 200).map((note, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: notes have no identity and never move
        <li key={i}>
          {typeof note.span === "number" &&
            (onSelect ? (
              <SpanLink span={note.span} onSelect={onSelect} />
            ) : (
              <span className="no">s{note.span}</span>
            ))}{" "}
          {inline(note.message)} <code className="muted">{inline(note.code)}</code>
        </li>
      ))}
      {notes.length > 200 && <li className="muted">and {notes.length - 200} more</li>}
    </ul>
  );
}
