/** Whether the server was heard of last time it was asked. */

import { useSyncExternalStore } from "react";

let away = false;
const listeners = new Set<() => void>();

function set(next: boolean): void {
  if (next === away) return;
  away = next;
  for (const listener of listeners) listener();
}

export const heard = () => set(false);
export const lost = () => set(true);

export function useAway(): boolean {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => away,
  );
}

/** Whether it answers now. */
export async function ping(): Promise<boolean> {
  try {
    const answer = await fetch("/healthz");
    if (answer.ok) heard();
    return answer.ok;
  } catch {
    return false;
  }
}
