import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  ANY_TWO,
  chosen,
  dots,
  GROUP_SORTS,
  readGroup,
  readGroups,
  tone,
  value,
  writeGroup,
  writeGroups,
} from "../src/pure/groups";
import { MOST_WORDS, type Word, wordDiff } from "../src/pure/word-diff";

const name = fc.string({ unit: "grapheme", minLength: 1, maxLength: 30 });
const maybe = fc.option(name, { nil: null });
const text = fc
  .array(fc.constantFrom("to", "PRX", "PAR", " ", ", ", "{", "é", "1"), { maxLength: 14 })
  .map((p) => p.join(""));
const joined = (words: Word[]) => words.map((word) => word.text).join("");
const kept = (words: Word[]) =>
  words
    .filter((word) => !word.own)
    .map((word) => word.text)
    .join("");

describe("views of groups are links", () => {
  test("what is written is read back", () => {
    fc.assert(
      fc.property(fc.record({ by: maybe, a: maybe, b: maybe }), (view) => {
        expect(readGroup(writeGroup(view))).toEqual(view);
      }),
    );
    fc.assert(
      fc.property(
        fc.record({ text: fc.oneof(fc.constant(""), name), sort: fc.constantFrom(...GROUP_SORTS) }),
        (list) => {
          expect(readGroups(writeGroups(list))).toEqual(list);
        },
      ),
    );
  });

  test("nothing asked for is an empty search, and what is not known is left out", () => {
    expect([writeGroup(ANY_TWO), writeGroups({ text: "", sort: "-created" })]).toEqual(["", ""]);
    expect(readGroups("?sort=name&text=")).toEqual({ text: "", sort: "-created" });
  });
});

describe("which two stand side by side", () => {
  const two = { a: "low", b: "high" };
  test("those of the URL; the other of the two proposed where it names one; both proposed", () => {
    expect(chosen(ANY_TWO, two)).toEqual(["low", "high"]);
    expect(chosen({ by: null, a: "x", b: "y" }, two)).toEqual(["x", "y"]);
    expect(chosen({ by: null, a: "x", b: null }, two)).toEqual(["x", "high"]);
    expect(chosen({ by: null, a: "high", b: null }, two)).toEqual(["high", "low"]);
    expect(chosen({ by: null, a: null, b: "low" }, two)).toEqual(["high", "low"]);
    expect(chosen({ by: null, a: "only", b: null }, { a: "only", b: null })).toEqual(["only", null]);
  });
});

describe("values of arguments", () => {
  test.each([
    ['"PRX"', "PRX"],
    ['"2026-05-03"', "2026-05-03"],
    ['"5"', '"5"'],
    ['"true"', '"true"'],
    ['""', '""'],
    ["5", "5"],
    ['{"a":1}', '{"a":1}'],
    ['"a text that was cu…', "a text that was cu…"],
  ])("%s is read as %s", (json, shown) => expect(value(json)).toBe(shown));
});

describe("words that differ", () => {
  test("the word that only one side has", () => {
    expect(wordDiff("fly to PRX now", "fly to PAR now")).toEqual([
      [
        { text: "fly to ", own: false },
        { text: "PRX", own: true },
        { text: " now", own: false },
      ],
      [
        { text: "fly to ", own: false },
        { text: "PAR", own: true },
        { text: " now", own: false },
      ],
    ]);
  });

  test("joined they are the texts, what both keep is the same", () => {
    fc.assert(
      fc.property(text, text, (a, b) => {
        const [left, right] = wordDiff(a, b);
        expect([joined(left), joined(right)]).toEqual([a, b]);
        expect(kept(left)).toBe(kept(right));
        expect(left.some((word) => word.own) || right.some((word) => word.own)).toBe(a !== b);
      }),
    );
  });

  test("very long texts are marked as a whole", () => {
    const long = "word ".repeat(MOST_WORDS);
    expect(wordDiff(long, "word")).toEqual([[{ text: long, own: true }], [{ text: "word", own: true }]]);
    expect(wordDiff(long, long)[0]).toEqual([{ text: long, own: false }]);
  });
});

describe("means and rewards", () => {
  test("a mean lies below, above or level with the group's, or there is none", () => {
    expect(tone(0, 0.5, 0.5)).toEqual({ side: "below", part: 1 });
    expect(tone(0.75, 0.5, 0.5)).toEqual({ side: "above", part: 0.5 });
    expect(tone(0.1 + 0.2, 0.3, 1)).toEqual({ side: "level", part: 0 });
    expect(tone(null, 0.5, 1).side).toBe("unscored");
  });

  test("equal rewards are stacked; what has none has no dot", () => {
    expect(dots([0, 1, null, 0], 0, 1)).toEqual([
      { reward: 0, at: 0, level: 0 },
      { reward: 1, at: 1, level: 0 },
      { reward: 0, at: 0, level: 1 },
    ]);
    expect(dots([2], 2, 2)).toEqual([{ reward: 2, at: 0.5, level: 0 }]);
  });
});
