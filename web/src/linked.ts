/** State of a screen that lives in the search part of its URL, by the codec of the screen. */

import { useSearch } from "wouter/use-browser-location";
import { go, type How } from "./location";

export function useLinked<T extends object>(
  read: (search: string) => T,
  write: (state: T) => string,
): [T, (change: Partial<T>, how?: How) => void] {
  const change = (part: Partial<T>, how: How = "replace") =>
    go(location.pathname + write({ ...read(location.search), ...part }), how);
  return [read(useSearch()), change];
}
