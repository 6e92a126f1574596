/** What belongs to the reader and not to the view: kept in the browser, never in the URL. */

import { useSyncExternalStore } from "react";

export const THEMES = ["system", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];

const listeners = new Set<() => void>();

function read(key: string): string | null {
  try {
    return localStorage.getItem(`trajcredit.${key}`);
  } catch {
    return null;
  }
}

function write(key: string, value: string): void {
  try {
    localStorage.setItem(`trajcredit.${key}`, value);
  } catch {
    // a browser that keeps nothing still shows everything
  }
  for (const listener of listeners) listener();
}

function usePreference<T>(reading: () => T): T {
  return useSyncExternalStore((listener) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  }, reading);
}

const theme = (): Theme => THEMES.find((one) => one === read("theme")) ?? "system";
const shortcuts = (): boolean => read("shortcuts") !== "off";

export const useTheme = () => usePreference(theme);
export const useShortcuts = () => usePreference(shortcuts);
export const setShortcuts = (on: boolean) => write("shortcuts", on ? "on" : "off");

/** Who labels and edits edges here; "" until somebody said. */
const labeller = (): string => read("labeller") ?? "";
const blind = (): boolean => read("blind") !== "off";

export const useLabeller = () => usePreference(labeller);
export const setLabeller = (name: string) => write("labeller", name.trim());
export const useBlind = () => usePreference(blind);
export const setBlind = (on: boolean) => write("blind", on ? "on" : "off");

export function setTheme(next: Theme): void {
  write("theme", next);
  showTheme();
}

/** Puts the chosen theme on the page; the system's where none was chosen. */
export function showTheme(): void {
  const chosen = theme();
  if (chosen === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = chosen;
}
