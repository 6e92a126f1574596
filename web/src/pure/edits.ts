/** Changes of edges before they are saved, and how they and the saved ones look on the rail. */

import type { EdgeChange, EdgeEdits } from "../api-edges";
import { edgeKey, type Pair, type RailEdits } from "./rail";

export type Draft = Omit<EdgeChange, "action"> & { action: "add" | "remove" | "withdraw" };

export const draftKey = (draft: Pick<Draft, "parent" | "child">) => edgeKey(draft.parent, draft.child);

/** The drafts with one more; of one pair the last counts. */
export function drafted(drafts: readonly Draft[], draft: Draft): Draft[] {
  return [...without(drafts, draft), draft];
}

export function without(drafts: readonly Draft[], pair: Pick<Draft, "parent" | "child">): Draft[] {
  return drafts.filter((one) => draftKey(one) !== draftKey(pair));
}

/** "s12", "12" or "S12" -> 12; null where that is no span before `child`. */
export function sourceOf(typed: string, child: number): number | null {
  const digits = /^\s*s?(\d{1,9})\s*$/i.exec(typed)?.[1];
  const span = digits === undefined ? null : Number(digits);
  return span !== null && span < child ? span : null;
}

/** `kinds`: of the edges in force as the server has them, by key. */
export function railEdits(
  saved: EdgeEdits | undefined,
  drafts: readonly Draft[],
  kinds: ReadonlyMap<string, string>,
): RailEdits {
  const removed = new Map<string, Pair>();
  const pending = new Map<string, Pair>();
  const back = new Map<string, boolean>();
  for (const { saying, derived } of saved?.in_force ?? []) {
    const pair: Pair = [saying.parent, saying.child];
    if (saying.action === "remove") removed.set(edgeKey(...pair), pair);
    back.set(edgeKey(...pair), derived !== null);
  }
  for (const draft of drafts) {
    const [key, pair]: [string, Pair] = [draftKey(draft), [draft.parent, draft.child]];
    const stands = draft.action === "add" || (draft.action === "withdraw" && back.get(key) === true);
    removed.delete(key);
    if (!stands) removed.set(key, pair);
    else if (draft.action === "add" ? kinds.get(key) !== "override" : !kinds.has(key)) pending.set(key, pair);
  }
  return { removed: [...removed.values()], pending: [...pending.values()] };
}
