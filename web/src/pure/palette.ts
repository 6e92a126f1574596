/** Which entries of the command palette a text means: all of its words are in them, whole beginnings first. */

export interface Entry {
  key: string;
  section: string;
  label: string;
  /** Said beside the label; not searched. */
  hint?: string;
  act: () => void;
}

/** Entries of one section that are shown. */
export const MOST = 8;

export function matching(entries: readonly Entry[], text: string): Entry[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const ranked = entries
    .map((entry, order) => ({ entry, order, rank: rankOf(entry.label.toLowerCase(), words) }))
    .filter(({ rank }) => rank !== null);
  const sections = [...new Set(entries.map((entry) => entry.section))];
  return sections.flatMap((section) =>
    ranked
      .filter(({ entry }) => entry.section === section)
      .sort((a, b) => (b.rank ?? 0) - (a.rank ?? 0) || a.order - b.order)
      .slice(0, MOST)
      .map(({ entry }) => entry),
  );
}

/** How many words begin a word of the label; null where one of them is not in it at all. */
function rankOf(label: string, words: string[]): number | null {
  if (!words.every((word) => label.includes(word))) return null;
  const begun = label.split(/[^\p{L}\p{N}]+/u);
  return words.filter((word) => begun.some((part) => part.startsWith(word))).length;
}
