import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { bytes, number, percent, plural, signed, spoken, when } from "../src/pure/format";
import { pool, range } from "../src/pure/pool";
import { defaultRun, named, runName } from "../src/pure/runs";
import { filled, fullBar, inForce, largest, overflows } from "../src/pure/scale";
import { agreement, difference, ranking, ranks, spearman } from "../src/pure/stats";

const credits = fc.array(fc.option(fc.double({ noNaN: true, min: -5, max: 5 }), { nil: null }), { maxLength: 200 });

describe("numbers", () => {
  test.each([
    [0, "0.00"],
    [-0, "0.00"],
    [-0.5, "−0.50"],
    [0.125, "0.13"],
    [-0.004, "−0.004"],
    [0.00002, "2e-5"],
    [1234.5, "1235"],
    [3.2e9, "3.2e9"],
    [null, "–"],
  ])("%s is printed %s", (value, text) => expect(number(value)).toBe(text));

  test("only zero is printed as zero", () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
        expect(number(value) === "0.00").toBe(value === 0);
        expect(number(value).startsWith("−")).toBe(value < 0);
      }),
    );
  });

  test("aloud, with a sign, as parts and as counts", () => {
    expect([spoken(-0.36), spoken(0), spoken(null), signed(0.5), signed(-0.5), percent(0.8)]).toEqual([
      "minus 0.36",
      "zero",
      "not scored",
      "+0.50",
      "−0.50",
      "80 %",
    ]);
    expect([plural(1, "span"), plural(2134, "span"), bytes(999), bytes(12_800), bytes(2.5e6)]).toEqual([
      "1 span",
      "2,134 spans",
      "999 B",
      "12.8 kB",
      "2.5 MB",
    ]);
  });

  test("a time today, else a day, else the text itself", () => {
    const now = new Date(2026, 4, 3, 18, 0);
    expect(when(new Date(2026, 4, 3, 9, 5).toISOString(), now)).toBe("09:05");
    expect(when(new Date(2026, 3, 30, 9, 5).toISOString(), now)).toBe("2026-04-30");
    expect(when("yesterday", now)).toBe("yesterday");
  });
});

describe("pooling", () => {
  test("a cell shows the largest size in it, and nothing only where nothing is scored", () => {
    expect(pool([null, 0.1, -0.9, 0.3, null, null], 3)).toEqual([0.1, -0.9, null]);
  });

  test("never more cells than asked, every span in exactly one, nothing of largest size lost", () => {
    fc.assert(
      fc.property(credits, fc.integer({ min: 1, max: 60 }), (values, most) => {
        const cells = pool(values, most);
        expect(cells.length).toBe(Math.min(most, values.length));
        const ranges = cells.map((_, cell) => range(cell, cells.length, values.length));
        expect(ranges.flatMap(([a, b]) => values.slice(a, b))).toEqual(values);
        expect(largest([cells])).toBe(largest([values]));
      }),
    );
  });
});

describe("scales", () => {
  test("two columns share the larger one; the data set's is taken where there is one", () => {
    const runs = [
      { trajectory: 0.5, dataset: 0.4 },
      { trajectory: 0.25, dataset: 0.7 },
    ];
    const unknown = runs.map((run) => ({ ...run, dataset: null }));
    expect([fullBar("trajectory", runs), fullBar("one", runs), fullBar("dataset", runs)]).toEqual([0.5, 1, 0.7]);
    expect([fullBar("dataset", unknown), fullBar("trajectory", []), fullBar("one", [])]).toEqual([0.5, 0, 1]);
  });

  test("the data set's scale is in force only where it is known", () => {
    expect([
      inForce("dataset", [
        { trajectory: 1, dataset: null },
        { trajectory: 1, dataset: 0.4 },
      ]),
      inForce("dataset", [{ trajectory: 1, dataset: null }]),
      inForce("dataset", [{ trajectory: 1, dataset: 0 }]),
      inForce("one", []),
    ]).toEqual(["dataset", "trajectory", "trajectory", "one"]);
  });

  test("a bar never leaves its cell, and says when it would", () => {
    expect([filled(-0.25, 0.5), filled(3, 1), filled(1, 0), overflows(3, 1), overflows(1, 1)]).toEqual([
      0.5,
      1,
      0,
      true,
      false,
    ]);
  });
});

describe("agreement", () => {
  test("flat against a mask: one sign differs, no rank correlation, a fifth moved, tops tied", () => {
    const grpo = [null, -0.5, -0.5, -0.5, -0.5, -0.5];
    const dag = [null, -0.5, 0, -0.5, -0.5, -0.5];
    const found = agreement(dag, grpo);
    expect(found).toMatchObject({ spans: 5, sign: 0.8, spearman: null, top: "tied" });
    expect(found.moved).toBeCloseTo(0.2);
  });

  test("ties share their mean rank", () => expect(ranks([10, 20, 20, 5])).toEqual([2, 3.5, 3.5, 1]));

  test("Spearman with ties, by hand", () => {
    // ranks 1 2.5 2.5 4 against 1 2 3 4: 4.5 / sqrt(4.5 * 5)
    expect(spearman([1, 2, 2, 3], [1, 2, 3, 4])).toBeCloseTo(4.5 / Math.sqrt(22.5));
  });

  test("any increasing change of scale keeps it at 1", () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.integer({ min: -1000, max: 1000 }), { minLength: 2, maxLength: 40 }), (values) => {
        expect(
          spearman(
            values,
            values.map((value) => value ** 3 + 7),
          ),
        ).toBeCloseTo(1);
      }),
    );
  });

  test("a run agrees with itself, and whoever comes first changes nothing but the sign of nothing", () => {
    fc.assert(
      fc.property(credits, (values) => {
        const self = agreement(values, values);
        if (self.sign !== null) expect(self.sign).toBe(1);
        if (self.moved !== null) expect(self.moved).toBeCloseTo(0);
        const back = [...values].reverse();
        expect(agreement(values, back)).toEqual(agreement(back, values));
      }),
    );
  });

  test("nothing scored is nothing said", () => expect(agreement([null], [1]).spans).toBe(0));

  test("a difference needs both sides", () =>
    expect(difference([1, null, 2], [0.5, 1, null])).toEqual([0.5, null, null]));
});

describe("order of blame", () => {
  test("most blamed first, the earliest of equals; praise only where nothing is blamed", () => {
    expect(ranking([0.9, -0.1, null, -0.5, 0, -0.5])).toEqual([3, 5, 1]);
    expect(ranking([0.1, null, 0.5])).toEqual([2, 0]);
  });
});

describe("runs", () => {
  const run = (id: string, attributor: string, state = "done") => ({
    id,
    number: Number(id),
    attributor,
    label: attributor,
    state,
  });
  const runs = [run("4", "rloo", "running"), run("3", "grpo"), run("2", "dag"), run("1", "grpo")];

  test("dag is shown where there is one, else the newest that is done", () => {
    expect([defaultRun(runs)?.id, defaultRun(runs.slice(0, 2))?.id, defaultRun([])]).toEqual(["2", "3", null]);
  });

  test("a name is a run's id, or the newest finished run of an attributor", () => {
    expect([named(runs, "1")?.id, named(runs, "grpo")?.id, named(runs, "rloo"), named(runs, null)]).toEqual([
      "1",
      "3",
      null,
      null,
    ]);
  });

  test("people call it by its label and its number, or by its label where only that is known", () => {
    expect([runName(runs, "2", "dag"), runName(runs, "77", "dag:gamma=0.9")]).toEqual(["dag #2", "dag:gamma=0.9"]);
  });
});
