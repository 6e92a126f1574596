import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { duration } from "../src/pure/duration";
import { HIT, type Hits, joined, marksOfHits, namedSpans, step, ticks, together } from "../src/pure/hits";
import { type Entry, MOST, matching } from "../src/pure/palette";

const HITS: Hits = {
  q: "paris",
  length: 5,
  span: [1, 1, 4, 9],
  start: [null, 8, 0, 50],
  spans: [1, 4, 9],
  counts: [2, 1, 1],
  total: 4,
  next: null,
};

describe("hits", () => {
  test("the first step goes to the next hit from the span looked at, then round and round", () => {
    expect(step(HITS, 0, 1, null)).toBe(1);
    expect(step(HITS, 0, 1, 2)).toBe(3);
    expect(step(HITS, 0, 1, 10)).toBe(1);
    expect(step(HITS, 0, -1, 4)).toBe(2);
    expect(step(HITS, 0, -1, 0)).toBe(4);
    expect(step(HITS, 4, 1, 9)).toBe(1);
    expect(step(HITS, 1, -1, 1)).toBe(4);
    expect(step({ ...HITS, span: [], start: [] }, 0, 1, 3)).toBe(0);
  });

  test("steps forward from anywhere meet every hit once", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(20), { minLength: 1, maxLength: 12 }), fc.option(fc.nat(20)), (spans, from) => {
        const some = { ...HITS, span: spans.sort((a, b) => a - b), start: spans.map(() => 0) };
        let at = step(some, 0, 1, from);
        const seen = spans.map(() => {
          const now = at;
          at = step(some, at, 1, null);
          return now;
        });
        expect(new Set(seen)).toEqual(new Set(spans.map((_, i) => i + 1)));
      }),
    );
  });

  test("marks are of texts, the one looked at stands out, names are told apart", () => {
    const marks = marksOfHits(HITS, 3);
    expect(marks.get(1)).toEqual([{ start: 8, end: 13, colour: HIT, strong: false }]);
    expect(marks.get(4)).toEqual([{ start: 0, end: 5, colour: HIT, strong: true }]);
    expect([...namedSpans(HITS)]).toEqual([1]);
  });

  test("of very many hits in a span those around the one looked at are marked", () => {
    const many = 1000;
    const some = { ...HITS, span: Array(many).fill(2), start: Array.from({ length: many }, (_, i) => i * 10) };
    for (const occ of [0, 1, 500, many]) {
      const marks = marksOfHits(some, occ).get(2) ?? [];
      expect(marks.length).toBe(60);
      expect(marks.filter((mark) => mark.strong).map((mark) => mark.start)).toEqual(occ === 0 ? [] : [(occ - 1) * 10]);
    }
  });

  test("hits stand before other marks of the same span", () => {
    const other = { start: 1, end: 2, colour: 0, strong: false };
    const all = together(marksOfHits(HITS, 0), new Map([[4, [other]]]));
    expect(all.get(4)?.map((mark) => mark.colour)).toEqual([HIT, 0]);
    expect(all.get(9)?.length).toBe(1);
  });

  test("two answers are one, with no more places than there may be", () => {
    const both = joined({ ...HITS, next: 10 }, { ...HITS, span: [12, 13, 14, 15], spans: [12, 13, 14, 15] }, 6);
    expect(both.span).toEqual([1, 1, 4, 9, 12, 13]);
    expect(both.start.length).toBe(6);
    expect([both.total, both.next, both.spans.length]).toEqual([8, null, 7]);
  });

  test("every span with a hit has its tick, within the strip", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 20_000 }), fc.nat(), (length, any) => {
        const [span, cells] = [any % length, Math.min(240, length)];
        const [cell = -1] = ticks([span], cells, length);
        expect(cell).toBeGreaterThanOrEqual(0);
        expect(cell).toBeLessThan(cells);
        expect(Math.abs(cell / cells - span / length)).toBeLessThanOrEqual(1 / cells);
      }),
    );
  });
});

describe("the palette", () => {
  const entry = (section: string, label: string): Entry => ({
    key: `${section} ${label}`,
    section,
    label,
    act: () => {},
  });
  const labels = (text: string, entries: Entry[]) => matching(entries, text).map((one) => one.label);

  test("all words must be in it; those that begin a word come first, sections keep their order", () => {
    const entries = [
      entry("go to", "Exports"),
      entry("run", "reinforce_pp #4"),
      entry("run", "pp #1"),
      entry("x", "app"),
    ];
    expect(labels("", entries)).toEqual(["Exports", "reinforce_pp #4", "pp #1", "app"]);
    expect(labels("PP", entries)).toEqual(["reinforce_pp #4", "pp #1", "app"]);
    expect(labels("pp 1", entries)).toEqual(["pp #1"]);
    expect(labels("port", entries)).toEqual(["Exports"]);
    expect(labels("nothing", entries)).toEqual([]);
  });

  test("a section shows some of many", () => {
    const entries = Array.from({ length: 40 }, (_, i) => entry("run", `dag #${i}`));
    expect(labels("dag", entries).length).toBe(MOST);
    expect(labels("39", entries)).toEqual(["dag #39"]);
  });
});

test("how long something took", () => {
  const from = "2026-04-14T10:00:00.000000Z";
  const took = (to: string) => duration(from, `2026-04-14T${to}Z`);
  expect(took("10:00:00.020000")).toBe("under 0.1 s");
  expect(took("10:00:00.420000")).toBe("0.4 s");
  expect(took("10:00:09.970000")).toBe("10 s");
  expect(took("10:00:59.600000")).toBe("1 min");
  expect(took("10:03:20.000000")).toBe("3 min 20 s");
  expect(took("12:05:00.000000")).toBe("2 h 5 min");
  expect(took("09:00:00.000000")).toBeNull();
  expect(duration(from, null)).toBeNull();
  expect(duration(null, from)).toBeNull();
});
