import { copy } from "../notice";
import { uploadPath } from "../pure/url";
import { visible } from "../pure/visible";
import { Go } from "./go";

/** An empty project says how to fill it. */
export function EmptyList({ project }: { project: string }) {
  return (
    <main className="page">
      <h1>No trajectories yet</h1>
      <p>
        <Go to={uploadPath(project)} className="button primary">
          Upload logs
        </Go>{" "}
        or send them from where they are written:
      </p>
      <Command text={curl(project)} />
      <p className="muted">
        JSON, JSON lines, gzip and zstd are read as they are; the format is recognised. Sending the same log again
        changes nothing.
      </p>
    </main>
  );
}

/** The upload as a command to paste. */
export function curl(project: string): string {
  const quoted = encodeURIComponent(project);
  return `curl --data-binary @runs.jsonl '${location.origin}/api/v1/trajectories?project=${quoted}&name=runs.jsonl'`;
}

/** Something to paste; what is copied is what is meant, what is shown has its hidden characters marked. */
export function Command({ text, label }: { text: string; label?: string }) {
  return (
    <div className="command">
      <code>{visible(text)}</code>
      <button
        type="button"
        aria-label={label && `Copy ${label}`}
        onClick={() => void copy(text, `${label ?? "Command"} copied.`)}
      >
        Copy
      </button>
    </div>
  );
}

export function NoMatch({ onClear }: { onClear: () => void }) {
  return (
    <div className="nomatch">
      <p>No trajectory matches these filters.</p>
      <button type="button" onClick={onClear}>
        Clear the filters
      </button>
    </div>
  );
}
