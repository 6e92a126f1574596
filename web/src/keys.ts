/** Single-key shortcuts: never while something is typed, and off where the reader turned them off. */

import { useEffect } from "react";
import { tinykeys } from "tinykeys";
import { useShortcuts } from "./preferences";

export type Bindings = Record<string, () => void>;

const TYPING = "input, textarea, select, [contenteditable]";

export function useKeys(bindings: Bindings): void {
  const on = useShortcuts();
  useEffect(() => {
    if (!on) return;
    const guarded = Object.entries(bindings).map(([key, act]) => [
      key,
      (event: KeyboardEvent) => {
        if (event.target instanceof Element && event.target.closest(`${TYPING}, dialog, [role=dialog]`)) return;
        event.preventDefault();
        act();
      },
    ]);
    return tinykeys(window, Object.fromEntries(guarded));
  });
}
