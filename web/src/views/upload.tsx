import { useQueryClient } from "@tanstack/react-query";
import { type DragEvent, useState } from "react";
import type { IngestResult } from "../api";
import { dropped } from "../dropped";
import { go } from "../location";
import { Command, curl } from "../parts/empty";
import { FileReport } from "../parts/file-report";
import { Go } from "../parts/go";
import { ScoreNow } from "../parts/score-now";
import { plural } from "../pure/format";
import { listPath, writeList } from "../pure/url";
import { send } from "../upload";

export interface Upload {
  key: number;
  file: File;
  /** 0..1 while it is on its way. */
  part: number;
  result: IngestResult | null;
  error: Error | null;
}

let keys = 0;

/** Files in, and what became of each trajectory in them. */
export function UploadView({ project }: { project: string }) {
  const [uploads, setUploads] = useState<Upload[]>([]);
  const [over, setOver] = useState(false);
  const client = useQueryClient();
  const patch = (key: number, change: Partial<Upload>) =>
    setUploads((all) => all.map((one) => (one.key === key ? { ...one, ...change } : one)));
  const sendOne = async ({ key, file }: Upload, replace: boolean) => {
    patch(key, { part: 0, error: null, result: null });
    try {
      const result = await send({ project, file, replace, onProgress: (part) => patch(key, { part }) });
      patch(key, { result, part: 1 });
      await client.invalidateQueries();
    } catch (error) {
      patch(key, { error: error as Error });
    }
  };
  const add = async (files: readonly File[]) => {
    const added = files.map((file) => ({ key: keys++, file, part: 0, result: null, error: null }));
    setUploads((all) => [...added, ...all]);
    for (const upload of added) await sendOne(upload, false);
  };
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    void dropped(event.dataTransfer).then(add);
  };
  const stored = uploads.reduce((sum, { result }) => sum + (result ? result.created + result.replaced : 0), 0);
  return (
    <main className="page upload">
      <h1>Upload logs</h1>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the chooser inside does the same by keyboard */}
      <div
        className={over ? "drop over" : "drop"}
        onDragOver={(event) => {
          event.preventDefault();
          setOver(true);
        }}
        onDragLeave={() => setOver(false)}
        onDrop={drop}
      >
        <label className="button primary">
          Choose files
          <input
            type="file"
            multiple
            className="hidden"
            onChange={(event) => {
              void add([...(event.target.files ?? [])]);
              event.target.value = "";
            }}
          />
        </label>
        <span>or drop files and folders here</span>
        <span className="muted small">JSON, JSON lines; gzip and zstd too; the format is recognised</span>
      </div>
      {stored > 0 && (
        <p className="stored">
          {plural(stored, "trajectory", "trajectories")} stored. <Go to={listPath(project)}>Look at them</Go>
        </p>
      )}
      {stored > 0 && (
        <ScoreNow
          project={project}
          onScored={(run) => go(listPath(project) + writeList({ filters: {}, sort: "-created", run }))}
        />
      )}
      {uploads.map((upload) => (
        <FileReport
          key={upload.key}
          project={project}
          upload={upload}
          onReplace={() => void sendOne(upload, true)}
          onAgain={() => void sendOne(upload, false)}
        />
      ))}
      <h2>From a shell</h2>
      <Command text={curl(project)} />
    </main>
  );
}
