import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { characters, excerpt, known, type Mark, missing, slice } from "../src/pure/excerpt";
import { inline, visible } from "../src/pure/visible";
import { spokenKind } from "../src/pure/words";

describe("what would act on the reader is shown", () => {
  test.each([
    ["\u001b[31mred", "␛[31mred"],
    ["a\u0000b", "a␀b"],
    ["a\u007fb", "a␡b"],
    ["evil\u202egnp.exe", "evil⟦U+202E⟧gnp.exe"],
    ["pay\u200bpal", "pay⟦U+200B⟧pal"],
    ["\u2066x\u2069", "⟦U+2066⟧x⟦U+2069⟧"],
    ["\u{e0041}", "⟦U+E0041⟧"],
    ["\ud800", "⟦U+D800⟧"],
    ["line\r\nfeed\tand tab", "line\nfeed\tand tab"],
    ["😀❤️", "😀❤️"],
  ])("%j", (text, shown) => expect(visible(text)).toBe(shown));

  test("names stay on one line", () => expect(inline("a\nb\tc")).toBe("a␊b␉c"));

  test("nothing that acts is left, whatever comes in", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        expect(visible(text).replace(/[\n\t]/g, "")).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}]/u);
      }),
    );
  });
});

const LIMITS = { characters: 20, lines: 3, around: 5 };
const mark = (start: number, end: number, strong = false): Mark => ({ start, end, colour: 0, strong });
const text = "0123456789".repeat(20);

describe("excerpts", () => {
  test("a short text is shown whole", () => {
    expect(excerpt(known("short", "", 5), 5, [], LIMITS)).toEqual([{ kind: "text", text: "short", from: 0 }]);
  });

  test("a long one is its head and how much more there is", () => {
    expect(excerpt(known(text, "", 200), 200, [], LIMITS)).toEqual([
      { kind: "text", text: text.slice(0, 20), from: 0 },
      { kind: "gap", from: 20, size: 180, loaded: true },
    ]);
  });

  test("many lines count as long", () => {
    expect(excerpt(known("a\nb\nc\nd\ne", "", 9), 9, [], LIMITS).map((piece) => piece.kind)).toEqual(["text", "gap"]);
  });

  test("a marked value far down is shown with what stands around it", () => {
    const pieces = excerpt(known(text, "", 200), 200, [mark(100, 104)], LIMITS);
    expect(pieces.map((piece) => piece.kind)).toEqual(["text", "gap", "text", "mark", "text", "gap"]);
    expect(pieces[3]).toMatchObject({ text: "0123", from: 100 });
  });

  test("a marked value in the cut middle is a gap until it is loaded, and asked for", () => {
    const parts = known(text.slice(0, 30), text.slice(-30), 200);
    expect(missing(parts, 200, [mark(100, 104), mark(5, 8)], 5)).toEqual([[95, 109]]);
    const loaded = [...parts, { from: 95, text: text.slice(95, 109) }];
    expect(missing(loaded, 200, [mark(100, 104)], 5)).toEqual([]);
    expect(excerpt(loaded, 200, [mark(100, 104)], LIMITS).some((piece) => piece.kind === "mark")).toBe(true);
  });

  test("offsets count characters, not halves of them", () => {
    const emoji = "😀😀value";
    expect([characters(emoji), slice(emoji, 2, 7)]).toEqual([7, "value"]);
    expect(excerpt(known(emoji, "", 7), 7, [mark(2, 7)], LIMITS)).toContainEqual({
      kind: "mark",
      text: "value",
      from: 2,
      colour: 0,
      strong: false,
    });
  });

  test("pieces are in order, cover everything once, and every mark that is loaded is shown", () => {
    const marks = fc.array(
      fc
        .tuple(fc.nat(199), fc.integer({ min: 1, max: 12 }))
        .map(([start, size]) => mark(start, Math.min(200, start + size))),
      { maxLength: 6 },
    );
    fc.assert(
      fc.property(marks, (some) => {
        const pieces = excerpt(known(text, "", 200), 200, some, LIMITS);
        let here = 0;
        for (const piece of pieces) {
          expect(piece.from).toBe(here);
          here += piece.kind === "gap" ? piece.size : piece.text.length;
        }
        expect(here).toBe(200);
        for (const { start, end } of some)
          for (const piece of pieces)
            if (piece.kind === "gap") expect(piece.from >= end || piece.from + piece.size <= start).toBe(true);
      }),
    );
  });
});

test("kinds are spoken with their tool", () => {
  expect([spokenKind("tool_call", "pay"), spokenKind("tool_result", "pay"), spokenKind("tool_result", null)]).toEqual([
    "tool call pay",
    "result of pay",
    "result",
  ]);
});
