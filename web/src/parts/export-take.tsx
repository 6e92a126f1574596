import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import type { ExporterInfo, Preview, Run } from "../api";
import { download } from "../download";
import { notice } from "../notice";
import { command, DATABASE, fileName, python, type Taken, toText } from "../pure/commands";
import { bytes, count, plural } from "../pure/format";
import type { ExportView } from "../pure/url";
import { inline } from "../pure/visible";
import { useAttributors, useDatabase } from "../queries";
import { Command } from "./empty";
import { Trouble } from "./trouble";

interface Props {
  project: string;
  run: Run;
  exporter: ExporterInfo;
  view: ExportView;
  /** Of what is asked for; undefined while it is not known, null of an exporter that aligns nothing. */
  preview: Preview | null | undefined;
}

/** The file itself: here, by command, from Python. Trajectories that do not align are left out on request alone. */
export function ExportTake({ project, run, exporter, view, preview }: Props) {
  const [dropping, setDropping] = useState(false);
  const attributors = useAttributors();
  const database = useDatabase().data ?? null;
  const failed = preview?.totals?.failed ?? 0;
  const drop = failed > 0 && dropping;
  const taken: Taken = {
    run,
    project,
    to: view.to,
    parameters: drop ? { ...view.parameters, misaligned: "drop" } : view.parameters,
    tokenizer: view.tokenizer,
    database,
    suffix: exporter.suffix,
  };
  const file = useMutation({
    mutationFn: () =>
      download({
        project,
        run: run.id,
        to: toText(taken.to, taken.parameters),
        tokenizer: taken.tokenizer,
        name: fileName(taken),
      }),
    onSuccess: (size) => notice(`${fileName(taken)}: ${bytes(size)}`),
  });
  const why = hindrance(preview, drop);
  const known = attributors.data?.find((one) => one.name === run.attributor);
  return (
    <section aria-label="Take it" className="take">
      <h3>Take it</h3>
      {failed > 0 && (
        <label>
          <input type="checkbox" checked={dropping} onChange={(event) => setDropping(event.target.checked)} /> leave out{" "}
          {dropped(preview, failed)}
        </label>
      )}
      <div className="group">
        <button
          type="button"
          className="primary"
          disabled={why !== null || file.isPending}
          onClick={() => file.mutate()}
        >
          {file.isPending ? "Writing…" : `Download ${inline(fileName(taken))}`}
        </button>
        {why && <span className="muted small">{why}</span>}
      </div>
      {run.stale && (
        <p className="stale">
          Stale: {inline(run.stale_reason ?? "something changed after it")}; the file has what it saw.
        </p>
      )}
      {file.error && <Trouble error={file.error} what="not written" />}
      <h4>By command, {database === null ? "with the server's database" : "in the folder of the server's database"}</h4>
      <Command text={command(taken)} label="the command" />
      <p className="muted small">
        {database === null
          ? `${DATABASE} is what the server was started with: trajcredit serve --db ${DATABASE}.`
          : `${inline(database)} is the file that the server was started with (trajcredit serve --db).`}
      </p>
      <h4>From Python, scoring the same logs anew</h4>
      {known && <Command text={python(taken, run, known.parameters, exporter.parameters)} label="the lines" />}
      <p className="muted small">
        {view.tokenizer !== null && "FOLDER is where the server's tokenizers lie, LOGS where the logs do. "}
        {view.tokenizer === null && "LOGS is where the logs lie. "}
        Rewards that came later, overridden edges and settings are in the store alone.
      </p>
    </section>
  );
}

function dropped(preview: Preview | null | undefined, failed: number): string {
  if (preview && preview.looked_at < preview.of) {
    return `every trajectory that does not align: ${count(failed)} of the first ${count(preview.looked_at)}`;
  }
  return failed === 1
    ? "1 trajectory that does not align"
    : `${plural(failed, "trajectory", "trajectories")} that do not align`;
}

/** Why there is nothing to download yet. */
function hindrance(preview: Preview | null | undefined, drop: boolean): string | null {
  if (preview === null) return null;
  if (preview === undefined) return "no preview to go by";
  if (preview.totals === null) return null;
  if (preview.totals.rows === 0 && preview.looked_at === preview.of) return "no row to train";
  return preview.totals.failed > 0 && !drop ? "some do not align: tick the box first" : null;
}
