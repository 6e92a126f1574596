/** Names of trajectories, groups and tools as people read them: never invisible, never too long. */

import { inline } from "./visible";

/** A name on one line; one of spaces alone, or of nothing, says so. */
export function shownName(name: string): string {
  const line = inline(name);
  if (line.trim() !== "") return line;
  return line === "" ? "(blank)" : `(blank: ${"␣".repeat([...line].length)})`;
}

/** Characters that a name has in a title or a choice before its middle is left out. */
export const MOST = 60;

/** A name in at most `most` characters: where it is longer, its beginning and its end, which tells ids of one file apart. */
export function shortName(name: string, most: number = MOST): string {
  const line = [...shownName(name)];
  if (line.length <= most) return line.join("");
  const head = Math.ceil((most - 1) / 2);
  return `${line.slice(0, head).join("")}…${line.slice(line.length - (most - 1 - head)).join("")}`;
}
