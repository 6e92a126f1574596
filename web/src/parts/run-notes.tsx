import type { Note } from "../api";
import { count, plural } from "../pure/format";
import { trajectoryPath } from "../pure/url";
import { inline } from "../pure/visible";
import { Go } from "./go";

/** Trajectories of one note that are named; the rest is counted. */
const MOST = 100;

/** What a run guessed, repaired or left out: each thing once, with all trajectories and groups it was noted of. */
export function RunNotes({ project, notes }: { project: string; notes: readonly Note[] }) {
  const same = new Map<string, Note[]>();
  for (const note of notes) {
    const key = JSON.stringify([note.code, note.message]);
    same.set(key, [...(same.get(key) ?? []), note]);
  }
  return (
    <ul className="notes">
      {[...same].map(([key, some]) => (
        <li key={key}>
          {inline(some[0]?.message ?? "")} <code className="muted">{inline(some[0]?.code ?? "")}</code>
          {some.length > 1 && <span className="muted"> {plural(some.length, "time")}</span>}
          <Of project={project} notes={some} />
        </li>
      ))}
    </ul>
  );
}

function Of({ project, notes }: { project: string; notes: readonly Note[] }) {
  const named = notes.filter((note) => note.trajectory || note.group);
  if (named.length === 0) return null;
  return (
    <p className="of small">
      {named.slice(0, MOST).map((note, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: notes have no identity and never move
        <span key={i}>{note.trajectory ? <Named {...{ project, note }} /> : `group ${inline(note.group ?? "")}`}</span>
      ))}
      {named.length > MOST && <span className="muted">and {count(named.length - MOST)} more</span>}
    </p>
  );
}

function Named({ project, note }: { project: string; note: Note }) {
  const span = typeof note.span === "number" ? ` s${note.span}` : "";
  return (
    <Go to={trajectoryPath(project, `ext:${note.trajectory}`)}>
      {inline(note.trajectory ?? "")}
      {span}
    </Go>
  );
}
