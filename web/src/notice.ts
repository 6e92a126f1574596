/** One short sentence at the foot of the page, gone after a while. */

import { useSyncExternalStore } from "react";

let text = "";
let timer: ReturnType<typeof setTimeout> | undefined;
const listeners = new Set<() => void>();

export function notice(sentence: string): void {
  text = sentence;
  clearTimeout(timer);
  if (sentence) timer = setTimeout(() => notice(""), 4000);
  for (const listener of listeners) listener();
}

export function useNotice(): string {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => text,
  );
}

/** Puts a text on the clipboard, or shows it where the browser does not allow that. */
export async function copy(what: string, said: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(what);
    notice(said);
  } catch {
    notice(`This browser does not let us copy: ${what}`);
  }
}
