import { type ReactNode, useEffect } from "react";
import { exportPath, type Run } from "../api";
import { type Feed, useLiveRun } from "../live-run";
import { Go } from "../parts/go";
import { RunActions } from "../parts/run-actions";
import { RunNotes } from "../parts/run-notes";
import { RunState } from "../parts/run-state";
import { duration } from "../pure/duration";
import { count, when } from "../pure/format";
import { exportsPath, listPath, NO_EXPORT, runsPath, writeExport, writeList } from "../pure/url";
import { inline, visible } from "../pure/visible";
import { running } from "../queries";
import { Missing } from "./missing";
import { reward } from "./runs";
import "../styles/runs.css";

/** One run: what it was asked for, what it read, how far it is, what it says of itself. */
export function RunView({ project, id }: { project: string; id: string }) {
  const { data: run, error, feed } = useLiveRun(project, id);
  useEffect(() => {
    if (run) document.title = `${inline(run.label)} #${run.number} · trajcredit`;
  }, [run]);
  if (error && !run) return <Missing error={error} what={`run ${id}`} />;
  if (!run) return <p className="loading">Loading…</p>;
  const name = `${run.label} #${run.number}`;
  return (
    <main className="page run">
      <p className="small">
        <Go to={runsPath(project)}>All runs</Go>
      </p>
      <div className="runhead">
        <h1>{inline(name)}</h1>
        <span role="status">
          <RunState run={run} />
        </span>
        <span className="end">
          <RunActions {...{ project, run, name }} />
        </span>
      </div>
      {running(run) && <p className="muted small">{FEEDS[feed]}</p>}
      {run.error && (
        <p className="trouble" role="alert">
          {visible(run.error)}
        </p>
      )}
      {run.stale && (
        <p className="stale">
          Stale: {visible(run.stale_reason ?? "something changed after it")}. Its numbers are of what was stored then;
          “Run again” reads what is stored now.
        </p>
      )}
      {run.state === "done" && <Links {...{ project, run }} />}
      <Asked run={run} />
      <Read run={run} />
      <section>
        <h2>Notes</h2>
        {run.notes.length > 0 ? (
          <RunNotes {...{ project }} notes={run.notes} />
        ) : (
          <p className="muted">{noteless(run)}</p>
        )}
      </section>
    </main>
  );
}

const FEEDS: Record<Feed, string> = {
  told: "The server tells of every step.",
  asked: "The server is asked every second.",
};

function noteless(run: Run): string {
  return run.state === "done" ? "Nothing was guessed, repaired or left out." : "Notes come with the end of a run.";
}

function Links({ project, run }: { project: string; run: Run }) {
  const list = writeList({ filters: {}, sort: "-created", run: run.id });
  return (
    <p className="links">
      <Go className="button" to={listPath(project) + list}>
        Trajectories with its credit
      </Go>
      <Go className="button" to={exportsPath(project) + writeExport({ ...NO_EXPORT, run: run.id })}>
        Export preview
      </Go>
      <a className="button" href={exportPath(project, run.id, "jsonl", null)} download>
        Credit rows, JSON lines
      </a>
      <a className="button" href={exportPath(project, run.id, "parquet", null)} download>
        Credit rows, Parquet
      </a>
    </p>
  );
}

/** What was asked for: with the same trajectories and rewards it gives the same bits. */
function Asked({ run }: { run: Run }) {
  return (
    <section>
      <h2>Asked for</h2>
      <Facts
        facts={[
          ["attributor", inline(run.attributor)],
          ["reward", reward(run) ?? "the first source there is"],
          ["group by", run.group_by === null ? "what the log calls a group, else its task" : inline(run.group_by)],
          ["data set", run.dataset === null ? "all" : inline(run.dataset)],
          ...(run.seed === null ? [] : [["seed", String(run.seed)] satisfies [string, ReactNode]]),
        ]}
      />
      <h3>Parameters</h3>
      {Object.keys(run.parameters).length === 0 && <p className="muted">It takes none.</p>}
      <Facts facts={Object.entries(run.parameters).map(([key, value]) => [inline(key), inline(plain(value))])} />
    </section>
  );
}

/** A value as the command line takes it. */
function plain(value: unknown): string {
  if (value === null) return "none";
  return Array.isArray(value) ? value.map(plain).join("+") : String(value);
}

function Read({ run }: { run: Run }) {
  const took = duration(run.started, run.finished);
  return (
    <section>
      <h2>Read and done</h2>
      <Facts
        facts={[
          ["trajectories", run.started === null ? "not begun" : `${count(run.done)} of ${count(run.total)} done`],
          ["rewards up to", run.watermark === 0 ? "none" : `number ${count(run.watermark)} of the database`],
          [
            "critic",
            run.critic === null ? "none" : `${inline(run.critic)}, fingerprint ${inline(run.critic_fingerprint ?? "")}`,
          ],
          ["code", inline(run.code_version)],
          ["edge rules", inline(run.edge_version)],
          ["created", when(run.created)],
          ["begun", run.started === null ? "not yet" : when(run.started)],
          [
            "ended",
            run.finished === null ? "not yet" : `${when(run.finished)}${took === null ? "" : `, after ${took}`}`,
          ],
          ["id", <code key="id">{run.id}</code>],
        ]}
      />
    </section>
  );
}

function Facts({ facts }: { facts: [string, ReactNode][] }) {
  return (
    <dl className="facts">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
