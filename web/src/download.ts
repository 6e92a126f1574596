/** A file from the server onto the reader's disk: asked for by fetch, so that a refusal is read and not saved. */

import { exportPath, refusal, Unreachable } from "./api";
import { heard, lost } from "./server";

export interface Wanted {
  project: string;
  run: string;
  to: string;
  tokenizer: string | null;
  name: string;
}

/** Saves the export; its size in bytes. */
export async function download({ project, run, to, tokenizer, name }: Wanted): Promise<number> {
  const answer = await fetch(exportPath(project, run, to, tokenizer)).catch(() => {
    lost();
    throw new Unreachable();
  });
  heard();
  if (!answer.ok) throw refusal(await answer.json().catch(() => null), answer.status);
  const file = await answer.blob();
  const url = URL.createObjectURL(file);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
  return file.size;
}
