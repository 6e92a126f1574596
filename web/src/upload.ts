/** One file to the server, as it is, with progress: fetch cannot report that, XMLHttpRequest can. */

import { BASE, type IngestResult, refusal, Unreachable } from "./api";
import { heard, lost } from "./server";

export interface Sending {
  project: string;
  file: File;
  replace: boolean;
  onProgress: (part: number) => void;
}

export function send({ project, file, replace, onProgress }: Sending): Promise<IngestResult> {
  const query = new URLSearchParams({ project, name: file.name });
  if (replace) query.set("replace", "true");
  const request = new XMLHttpRequest();
  request.open("POST", `${BASE}/trajectories?${query}`);
  request.setRequestHeader("Content-Type", "application/octet-stream");
  request.upload.onprogress = (event) => onProgress(event.lengthComputable ? event.loaded / event.total : 0);
  return new Promise((resolve, reject) => {
    request.onload = () => {
      heard();
      const body = parsed(request.responseText);
      if (isResult(body)) resolve(body);
      else reject(refusal(body, request.status));
    };
    request.onerror = () => {
      lost();
      reject(new Unreachable());
    };
    request.send(file);
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function isResult(body: unknown): body is IngestResult {
  return typeof body === "object" && body !== null && "items" in body;
}
