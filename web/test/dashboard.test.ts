import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  clusters,
  GROUPS,
  listOf,
  narrowed,
  ORDERS,
  place,
  reach,
  readDash,
  share,
  tendency,
  WHOLE,
  whichOf,
  writeDash,
} from "../src/pure/dashboard";
import { readList } from "../src/pure/url";

const text = fc.string({ unit: "grapheme", minLength: 1, maxLength: 20 });
const name = fc.option(text, { nil: null });
const step = fc.option(fc.integer({ min: -1e9, max: 1e9 }), { nil: null });

const views = fc.record({
  dataset: name,
  group: name,
  policy: name,
  first: step,
  last: step,
  runs: fc.uniqueArray(
    text.filter((run) => !run.includes(",")),
    { maxLength: 8 },
  ),
  sort: fc.constantFrom(...ORDERS),
  from: fc.nat(1e5).map((page) => page * GROUPS),
});

describe("the dashboard is a link", () => {
  test("what is written is read back", () => {
    fc.assert(
      fc.property(views, (view) => {
        expect(readDash(writeDash(view))).toEqual(view);
      }),
    );
  });

  test("all of a project needs no parameters", () => expect(writeDash(WHOLE)).toBe(""));

  test.each([
    ["120..180", 120, 180],
    ["120..", 120, null],
    ["..180", null, 180],
    ["-3..0", -3, 0],
    ["7", 7, 7],
    ["x..180", null, null],
    ["..", null, null],
    ["1.5", null, null],
  ])("step=%s", (given, first, last) => {
    expect(readDash(`?step=${given}`)).toEqual({ ...WHOLE, first, last });
  });

  test("nonsense in a link is left out, never an error", () => {
    expect(readDash("?sort=sd&from=-1&run=,a,,a,b&step=9999999999999999999")).toEqual({ ...WHOLE, runs: ["a", "b"] });
    fc.assert(fc.property(fc.string(), (search) => void readDash(search)));
  });

  test("a mark leads to a list of the same trajectories, narrowed further", () => {
    fc.assert(
      fc.property(views, (view) => {
        const to = listOf("p", view, { tool: "search", step_min: 3 }, "run-1");
        const list = readList(to.slice(to.indexOf("?")));
        const own = Object.fromEntries(Object.entries(whichOf(view)).map(([key, value]) => [key, String(value)]));
        expect(list.filters).toEqual({ ...own, tool: "search", step_min: "3" });
        expect(list.run).toBe("run-1");
        expect(narrowed(view)).toBe(Object.keys(own).length > 0);
      }),
    );
  });
});

describe("charts", () => {
  test("only all is 100 %, only nothing is 0 %", () => {
    expect([0, 0.001, 0.3, 0.999, 1].map(share)).toEqual(["0 %", "<1 %", "30 %", "99 %", "100 %"]);
  });

  test("values lie between the ends of their scale", () => {
    expect(place(1, 0, 4)).toBe(25);
    expect(place(2, 2, 2)).toBe(50);
    expect(reach([null, -3, 2])).toBe(3);
    expect(reach([])).toBe(0);
  });

  test("no dot is lost among those that fall together", () => {
    fc.assert(
      fc.property(
        fc.array(fc.double({ min: 0, max: 100, noNaN: true })),
        fc.integer({ min: 1, max: 9 }),
        (at, most) => {
          const found = clusters(at, (value) => value, most);
          expect(found.reduce((sum, one) => sum + one.dots.length + one.more, 0)).toBe(at.length);
          expect(found.every((one) => one.dots.length <= most)).toBe(true);
          expect(found.map((one) => one.at)).toEqual([...new Set(at.map(Math.round))].sort((a, b) => a - b));
        },
      ),
    );
  });

  test("a correlation in words has the sign of the number", () => {
    const said = (value: number, half: number | null) =>
      tendency({ value, low: half === null ? null : value - half, high: half === null ? null : value + half });
    expect(said(-0.7, 0.1)).toBe("longer is much worse");
    expect(said(-0.2, 0.1)).toBe("longer is somewhat worse");
    expect(said(0.4, 0.3)).toBe("longer is clearly better");
    expect(said(0.05, 0.01)).toBe("longer is hardly better");
    expect(said(0.4, 0.5)).toBe("no tendency to be told from chance");
    expect(said(-0.9, null)).toBe("too few groups to tell");
  });
});
