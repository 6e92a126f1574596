/** The sheet of keys: whether it is open, and the keys of the screen that is shown. */

import { useEffect, useSyncExternalStore } from "react";

export type Key = [key: string, what: string];

export interface Section {
  title: string;
  keys: readonly Key[];
}

let open = false;
let screen: Section | null = null;
const listeners = new Set<() => void>();

function told(): void {
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function showSheet(on: boolean): void {
  open = on;
  told();
}

export const useSheetOpen = () => useSyncExternalStore(subscribe, () => open);

/** The keys of the screen shown; null where it has none of its own. */
export const useScreenKeys = () => useSyncExternalStore(subscribe, () => screen);

/** Says which keys a screen has, for as long as it is shown. The section is made once, outside of it. */
export function useSheet(section: Section): void {
  useEffect(() => {
    screen = section;
    told();
    return () => {
      if (screen === section) screen = null;
      told();
    };
  }, [section]);
}
