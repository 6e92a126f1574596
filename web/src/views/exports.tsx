import { useState } from "react";
import type { ExporterInfo, Preview, Run } from "../api";
import { useExport } from "../location";
import { Combobox } from "../parts/combobox";
import { ExportForm, writesTokens } from "../parts/export-form";
import { ExportTake } from "../parts/export-take";
import { ExportTotals, LeftOut } from "../parts/export-totals";
import { Go } from "../parts/go";
import { RunChooser } from "../parts/run-chooser";
import { ScoreNow } from "../parts/score-now";
import { TokenRows } from "../parts/token-rows";
import { Trouble } from "../parts/trouble";
import { toText } from "../pure/commands";
import { count, plural } from "../pure/format";
import { defaultRun, named } from "../pure/runs";
import { type ExportView, listPath, TOKENS } from "../pure/url";
import { inline, visible } from "../pure/visible";
import { useExporters, usePreview, useRun, useRuns, useTokenizers, useTrajectory } from "../queries";
import { Missing } from "./missing";

type ChangeView = (part: Partial<ExportView>, how?: "push" | "replace") => void;

/** What a trainer will see of a finished run, before it is written. */
export function ExportsView({ project }: { project: string }) {
  const [view, change] = useExport();
  const newest = useRuns(project);
  const exporters = useExporters();
  const asked = view.run ?? defaultRun(newest.data ?? [])?.id ?? null;
  const known = named(newest.data ?? [], asked);
  const older = useRun(project, newest.data && known === null ? asked : null);
  const error = newest.error ?? exporters.error;
  if (error && !(newest.data && exporters.data)) return <Missing error={error} what="what can be exported" />;
  if (!newest.data || !exporters.data) return <p className="loading">Loading…</p>;
  if (asked === null) return <NoRun project={project} onScored={(run) => change({ run })} />;
  if (known === null && older.isPending) return <p className="loading">Loading…</p>;
  const run = known ?? older.data ?? null;
  const runs = run === null || known ? newest.data : [...newest.data, run];
  const exporter = exporters.data.find((one) => one.name === view.to) ?? null;
  return (
    <Screen {...{ project, view, change, runs, run, exporter }} missing={older.error} exporters={exporters.data} />
  );
}

function NoRun({ project, onScored }: { project: string; onScored: (run: string) => void }) {
  return (
    <main className="page">
      <h1>Nothing to export yet</h1>
      <p>
        An export is the credit of a finished run, and this project has none. Score its trajectories, or{" "}
        <Go to={listPath(project)}>look at them</Go> first.
      </p>
      <ScoreNow project={project} onScored={onScored} />
    </main>
  );
}

interface Props {
  project: string;
  view: ExportView;
  change: ChangeView;
  runs: Run[];
  run: Run | null;
  /** Why there is no run. */
  missing: Error | null;
  exporter: ExporterInfo | null;
  exporters: ExporterInfo[];
}

function Screen(props: Props) {
  const { project, view, run, exporter, change } = props;
  const tokens = exporter !== null && writesTokens(exporter);
  const query = run && exporter ? queryOf(project, view, run) : null;
  const found = usePreview(query);
  const preview = found.error ? undefined : found.data;
  return (
    <main className="screen exports">
      <h1 className="hidden">Export preview</h1>
      <Chosen {...props} />
      {preview?.totals && (
        <div className="headlines">
          <ExportTotals preview={preview} />
        </div>
      )}
      <div className="split">
        <div className="looked">
          {run === null && props.missing && <Trouble error={props.missing} what="no run" />}
          {exporter === null && <Trouble error={new Error("no such exporter")} what={inline(view.to)} />}
          {found.error && <Trouble error={found.error} what="no preview" />}
          {query && tokens && <Looked {...{ project, view, change, preview }} spans={spanWriters(props.exporters)} />}
          {query && found.isPending && <p className="loading">Looking at the run…</p>}
          {preview && exporter && !tokens && <Rows {...{ preview, exporter }} />}
        </div>
        <aside className="panel" aria-label="Export">
          <h2 className="hidden">Export</h2>
          {run && exporter && (
            <ExportTake
              key={[run.id, view.to, view.tokenizer, preview?.totals?.failed].join(" ")}
              {...{ project, run, exporter, view }}
              preview={tokens ? preview : null}
            />
          )}
          {preview && <LeftOut {...{ project, preview }} />}
          {exporter && (
            <ExportForm exporter={exporter} given={view.parameters} onGive={(parameters) => change({ parameters })} />
          )}
        </aside>
      </div>
    </main>
  );
}

function queryOf(project: string, view: ExportView, run: Run) {
  return {
    project,
    run: run.id,
    to: toText(view.to, view.parameters),
    ...(view.tokenizer === null ? {} : { tokenizer: view.tokenizer }),
    ...(view.trajectory === null ? {} : { trajectory: view.trajectory }),
    from: view.from,
  };
}

/** Which run, for which trainer, by which tokenizer. */
function Chosen({ project, view, change, runs, run, exporter, exporters }: Props) {
  const [open, setOpen] = useState(false);
  const tokens = exporters.filter(writesTokens);
  const spans = spanWriters(exporters);
  const option = (one: ExporterInfo) => <option key={one.name}>{one.name}</option>;
  return (
    <div className="toolbar">
      <RunChooser
        {...{ project, runs, open }}
        name="run"
        empty="choose a run"
        shown={run?.id ?? null}
        onOpen={setOpen}
        onChoose={(chosen) => change({ run: chosen, trajectory: null, row: 0, from: 0 }, "push")}
      />
      <label>
        exporter{" "}
        <select
          value={view.to}
          onChange={(event) => change({ to: event.target.value, parameters: {}, row: 0, from: 0 }, "push")}
        >
          {exporter === null && option({ ...NONE, name: view.to })}
          <optgroup label="tokens, for a trainer">{tokens.map(option)}</optgroup>
          <optgroup label="one row a span">{spans.map(option)}</optgroup>
        </select>
      </label>
      {exporter && writesTokens(exporter) && <TokenizerChoice {...{ view, change }} />}
      {exporter && <span className="summary muted">{inline(exporter.summary)}</span>}
    </div>
  );
}

const NONE: ExporterInfo = { name: "", summary: "", parameters: [], suffix: "" };

function TokenizerChoice({ view, change }: { view: ExportView; change: ChangeView }) {
  const tokenizers = useTokenizers().data;
  const named = view.tokenizer === null ? [] : [view.tokenizer];
  return (
    <>
      <label>
        tokenizer{" "}
        <select
          value={view.tokenizer ?? ""}
          onChange={(event) => change({ tokenizer: event.target.value || null, row: 0, from: 0 }, "push")}
        >
          <option value="">none: ids of the log</option>
          {[...new Set([...named, ...(tokenizers ?? [])])].map((one) => (
            <option key={one} value={one}>
              {inline(one)}
            </option>
          ))}
        </select>
      </label>
      {tokenizers?.length === 0 && (
        <span className="muted small">
          This server has no tokenizers: <code>trajcredit serve --tokenizers FOLDER</code> says where they lie.
        </span>
      )}
    </>
  );
}

interface LookedProps {
  project: string;
  view: ExportView;
  change: ChangeView;
  preview: Preview | undefined;
  /** Exporters that need no tokens. */
  spans: ExporterInfo[];
}

const spanWriters = (exporters: ExporterInfo[]) => exporters.filter((one) => !writesTokens(one));

/** The tokens of one trajectory, a row and a window at a time. */
function Looked({ project, view, change, preview, spans: writers }: LookedProps) {
  const rows = preview?.rows ?? [];
  const row = rows[view.row] ?? rows[0];
  const spans = useTrajectory(project, row ? `ext:${row.trajectory}` : null);
  return (
    <>
      <div className="toolbar">
        <Combobox
          project={project}
          what="trajectories"
          label="trajectory"
          value={row?.trajectory ?? view.trajectory?.replace(/^ext:/, "") ?? ""}
          onChange={(id) => change({ trajectory: id ? `ext:${id}` : null, row: 0, from: 0 }, "push")}
        />
        {row && rows.length > 1 && (
          <label>
            row{" "}
            <select
              value={rows.indexOf(row)}
              onChange={(event) => change({ row: Number(event.target.value), from: 0 })}
            >
              {rows.map((one, i) => (
                <option key={one.row} value={i}>
                  {i + 1} of {rows.length}
                </option>
              ))}
            </select>
          </label>
        )}
        {row && <Window total={row.response_tokens} from={row.start} onGo={(from) => change({ from })} />}
        {row && (
          <span className="muted">
            {plural(row.trained, "token")} trained, uid {inline(row.uid)},{" "}
            {row.ids_source === "engine" ? "ids of the engine" : "re-tokenised from the text"}
          </span>
        )}
      </div>
      {row && preview && (
        <TokenRows
          key={`${row.trajectory} ${row.row} ${row.start}`}
          {...{ project, row }}
          run={preview.run}
          spans={spans.data}
        />
      )}
      {preview && !row && <p className="loading">{rowless(preview, view.trajectory)}</p>}
      {view.tokenizer === null && (preview?.totals?.failed ?? 0) > 0 && (
        <p className="untokened">
          Without a tokenizer and without token ids in the log, {writers.map((one) => inline(one.name)).join(" and ")}{" "}
          work all the same: they write one row a span, with its credit.{" "}
          {writers.map(({ name }) => (
            <button
              key={name}
              type="button"
              onClick={() => change({ to: name, parameters: {}, row: 0, from: 0 }, "push")}
            >
              use {inline(name)}
            </button>
          ))}
        </p>
      )}
    </>
  );
}

/** Why no row is shown. */
function rowless(preview: Preview, trajectory: string | null): string {
  if (trajectory === null) {
    const first = preview.totals?.failures[0]?.reason ?? Object.keys(preview.totals?.left_out ?? {})[0];
    return `No trajectory of this run has rows with these choices${first ? `: ${visible(first)}` : ""}.`;
  }
  const why = preview.totals?.failures.find((one) => trajectory === `ext:${one.trajectory_id}`)?.reason;
  return `No rows of it are in the file: ${why ? visible(why) : "it does not align, or it is left out"}.`;
}

function Window({ total, from, onGo }: { total: number; from: number; onGo: (from: number) => void }) {
  if (total <= TOKENS && from === 0) return <span className="muted">{plural(total, "response token")}</span>;
  return (
    <span className="group">
      <button type="button" disabled={from === 0} onClick={() => onGo(Math.max(0, from - TOKENS))}>
        previous {count(TOKENS)}
      </button>
      <span role="status">
        {from >= total ? "past the end" : `${count(from + 1)} to ${count(Math.min(total, from + TOKENS))}`} of{" "}
        {plural(total, "response token")}
      </span>
      <button type="button" disabled={from + TOKENS >= total} onClick={() => onGo(from + TOKENS)}>
        next {count(TOKENS)}
      </button>
    </span>
  );
}

/** An exporter of spans has nothing to align. */
function Rows({ preview, exporter }: { preview: Preview; exporter: ExporterInfo }) {
  return (
    <div className="page">
      <h2>One row a span</h2>
      <p>
        {inline(exporter.name)} writes spans, not tokens: there is nothing to align.{" "}
        {preview.span_rows !== null && <b>{plural(preview.span_rows, "row")}</b>} of{" "}
        {plural(preview.of, "trajectory", "trajectories")}.
      </p>
    </div>
  );
}
