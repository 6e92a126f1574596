import type { IngestItem, IngestResult } from "../api";
import { bytes, count, plural } from "../pure/format";
import { trajectoryPath } from "../pure/url";
import { inline } from "../pure/visible";
import type { Upload } from "../views/upload";
import { Go } from "./go";
import { Notes } from "./notes";
import { Trouble } from "./trouble";

interface Props {
  project: string;
  upload: Upload;
  onReplace: () => void;
  onAgain: () => void;
}

/** What became of one file: what was wrong first, then the rest. */
export function FileReport({ project, upload, onReplace, onAgain }: Props) {
  const { file, part, result, error } = upload;
  return (
    <section className="filereport" aria-label={inline(file.name)}>
      <h2>
        {inline(file.name)} <span className="muted">{bytes(file.size)}</span>
      </h2>
      {!result && !error && <Progress part={part} />}
      {error && (
        <>
          <Trouble error={error} what="not stored" />
          <button type="button" onClick={onAgain}>
            Send again
          </button>
        </>
      )}
      {result && (
        <>
          <p role="status">{summary(result)}</p>
          {result.duplicate > 0 && <p className="muted">Duplicates were stored before: nothing of them has changed.</p>}
          {result.conflict > 0 && (
            <p>
              The same id is stored with other content.{" "}
              <button type="button" onClick={onReplace}>
                Replace {plural(result.conflict, "trajectory", "trajectories")}
              </button>
            </p>
          )}
          <Items project={project} items={result.items} />
        </>
      )}
    </section>
  );
}

function Progress({ part }: { part: number }) {
  return (
    <p role="status">
      <progress value={part} max={1} aria-label="sent" /> {part < 1 ? "sending" : "being read and stored"}
    </p>
  );
}

const STATUSES = ["created", "replaced", "duplicate", "conflict", "rejected", "skipped"] as const;

function summary({ items }: IngestResult): string {
  const told = STATUSES.map((status) => [status, items.filter((item) => item.status === status).length] as const);
  return (
    told
      .filter(([, many]) => many > 0)
      .map(([status, many]) => `${count(many)} ${status}`)
      .join(", ") || "nothing in it"
  );
}

/** Rows shown a file; the rest is counted. */
const MOST = 100;
const URGENCY: Record<IngestItem["status"], number> = {
  rejected: 0,
  conflict: 1,
  created: 2,
  replaced: 2,
  duplicate: 3,
  skipped: 3,
};

function Items({ project, items }: { project: string; items: IngestItem[] }) {
  const sorted = items.toSorted((a, b) => URGENCY[a.status] - URGENCY[b.status]);
  return (
    <table className="items">
      <thead>
        <tr>
          <th scope="col">status</th>
          <th scope="col">trajectory</th>
          <th scope="col">line</th>
          <th scope="col">report</th>
        </tr>
      </thead>
      <tbody>
        {sorted.slice(0, MOST).map((item, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: answers are in the order of the input and never move
          <tr key={i}>
            <td>
              <span className={`status ${item.status}`}>{item.status}</span>
            </td>
            <td>
              {item.id ? (
                <Go to={trajectoryPath(project, item.id)}>{inline(item.external_id ?? item.id)}</Go>
              ) : (
                inline(item.external_id ?? "–")
              )}
            </td>
            <td className="figure">{item.line ?? "–"}</td>
            <td>
              {item.reason && <p className="reason">{inline(item.reason)}</p>}
              {item.report && item.report.length > 0 && <Notes notes={item.report} />}
            </td>
          </tr>
        ))}
        {items.length > MOST && (
          <tr>
            <td colSpan={4} className="muted">
              and {count(items.length - MOST)} more, none of them worse
            </td>
          </tr>
        )}
      </tbody>
    </table>
  );
}
