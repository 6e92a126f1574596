/** Which words of a text are not in another: the longest common subsequence of words. */

export interface Word {
  text: string;
  /** Only in the text it is of. */
  own: boolean;
}

/** Words of each beyond which a text is marked as a whole: the table has as many cells as both multiplied. */
export const MOST_WORDS = 300;

/** Both texts in pieces; joined, each is what it was. */
export function wordDiff(a: string, b: string): [Word[], Word[]] {
  const [left, right] = [split(a), split(b)];
  if (left.length > MOST_WORDS || right.length > MOST_WORDS) {
    return [whole(a, a !== b), whole(b, a !== b)];
  }
  const [keepLeft, keepRight] = common(left, right);
  return [joined(left, keepLeft), joined(right, keepRight)];
}

/** Words, and what stands between them. */
const split = (text: string) => text.match(/[\p{L}\p{N}_.-]+|\s+|[^\p{L}\p{N}_.\s-]/gu) ?? [];

const whole = (text: string, own: boolean): Word[] => (text ? [{ text, own }] : []);

function common(a: readonly string[], b: readonly string[]): [Set<number>, Set<number>] {
  const width = b.length + 1;
  const length = new Uint16Array((a.length + 1) * width);
  const at = (i: number, j: number) => length[i * width + j] ?? 0;
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      length[i * width + j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const kept: [Set<number>, Set<number>] = [new Set(), new Set()];
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    if (a[i] === b[j]) {
      kept[0].add(i++);
      kept[1].add(j++);
    } else if (at(i + 1, j) >= at(i, j + 1)) i++;
    else j++;
  }
  return kept;
}

function joined(words: readonly string[], kept: ReadonlySet<number>): Word[] {
  const out: Word[] = [];
  words.forEach((text, i) => {
    const last = out.at(-1);
    const own = !kept.has(i);
    if (last?.own === own) last.text += text;
    else out.push({ text, own });
  });
  return out;
}
