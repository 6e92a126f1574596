import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  about,
  advice,
  type BaseRate,
  choices,
  counts,
  type Estimate,
  figure,
  interval,
  outlay,
  points,
  readCursor,
  readNewRun,
  readTrust,
  scored,
  scoreWith,
  spansOf,
  type Trust,
  unpaid,
  warnings,
  whole,
  writeCursor,
  writeNewRun,
  writeTrust,
} from "../src/pure/judges";
import { judgesPath, judgingPath, route } from "../src/pure/url";

const name = fc.string({ unit: "grapheme", minLength: 1, maxLength: 30 });
const maybe = fc.option(name, { nil: null });
const estimate = (value: number | null, low: number | null = null, high: number | null = null): Estimate => ({
  value,
  low,
  high,
  n: 40,
  groups: 10,
  why: value === null ? "it takes more" : null,
});
const against = (scores: BaseRate["scores"], verdict: BaseRate["verdict"]): BaseRate => ({
  scores,
  verdict,
  difference: estimate(verdict === "too_few" ? null : 0.1),
  skill: estimate(0),
  base: 0.25,
  says: `${scores} ${verdict}`,
});

function trust(rates: BaseRate[], more: Partial<Trust["reliability"]> = {}): Trust {
  return {
    judge: "rules",
    pass_at: 0.5,
    asked: 1,
    segments: 160,
    remarks: [],
    reliability: {
      scale: "state",
      trajectories: 40,
      groups: 10,
      passed: 19,
      unscored: 0,
      no_outcome: 0,
      auc: estimate(0.5),
      raw: null,
      calibrated: null,
      against_base_rate: rates,
      position: null,
      length: null,
      consistency: null,
      agreement: [],
      without: {},
      draws: 1000,
      ...more,
    },
  };
}

describe("views of judges are links", () => {
  test("paths lead to the screens", () => {
    expect(route(judgesPath("a/b"))).toEqual({ view: "judgings", project: "a/b" });
    expect(route(judgingPath("p", "j_1"))).toEqual({ view: "judging", project: "p", judging: "j_1" });
  });

  test("what is written is read back", () => {
    fc.assert(
      fc.property(
        fc.record({ against: maybe, repeat: maybe, bins: fc.constantFrom("width" as const, "count" as const) }),
        (view) => {
          expect(readTrust(writeTrust(view))).toEqual(view);
        },
      ),
    );
    const parameters = fc.dictionary(name, name).map((given) => ({ ...given }));
    fc.assert(
      fc.property(
        fc.record({ attributor: name, parameters, dataset: maybe }),
        (run) => void expect(readNewRun(writeNewRun(run))).toEqual(run),
      ),
    );
    fc.assert(fc.property(name, (cursor) => void expect(readCursor(writeCursor(cursor))).toBe(cursor)));
  });

  test("nothing asked for is nothing", () => {
    expect([readNewRun("?p.judge=j_1"), readCursor(""), writeTrust(readTrust(""))]).toEqual([null, null, ""]);
  });

  test("a run that hears a judging is about what was judged", () => {
    expect(scoreWith({ id: "j_1", dataset: null })).toBe("?new=judge&p.judge=j_1");
    expect(readNewRun(scoreWith({ id: "j_1", dataset: "a b" }))?.dataset).toBe("a b");
  });
});

describe("what has to be known first", () => {
  test("the grave before the open, in the server's words", () => {
    const told = warnings(trust([against("raw", "not_told_from"), against("calibrated", "worse")]));
    expect(told).toEqual([
      { text: "calibrated worse", grave: true },
      { text: "raw not_told_from", grave: false },
    ]);
  });

  test("what could not be held against the base rate says what it takes; the better is no warning", () => {
    const told = warnings(trust([against("raw", "too_few"), against("calibrated", "better")]));
    expect(told.map(({ text }) => text)).toEqual(["its scores were not held against the base rate: it takes more"]);
  });

  test("trajectories without a score and scores without an outcome are counted", () => {
    const told = warnings(trust([], { trajectories: 38, unscored: 1, no_outcome: 1 }));
    expect(told.map(({ text }) => text)).toEqual([
      "1 of 40 trajectories have no score: not judged, or without any opinion",
      "1 scored trajectory without an outcome: in no figure on outcomes",
    ]);
  });

  test.each([
    ["better", "better", /as they are and calibrated/],
    ["worse", "better", /once they are calibrated/],
    ["too_few", "too_few", /Nothing here says/],
    ["worse", "not_told_from", /not known to tell anything/],
  ] as const)("raw %s, calibrated %s", (raw, calibrated, said) => {
    expect(advice(trust([against("raw", raw), against("calibrated", calibrated)]))).toMatch(said);
  });
});

describe("figures", () => {
  test("three decimals, a real minus, no sign on nothing", () => {
    expect([figure(0.8581), figure(-0.1), figure(0.1, true), figure(-0.0001, true), figure(null)]).toEqual([
      "0.858",
      "−0.100",
      "+0.100",
      "0.000",
      "–",
    ]);
    expect([interval(estimate(0.5, 0.4, 0.6)), interval(estimate(0.5))]).toEqual(["[0.400, 0.600]", null]);
  });

  test("a score names its scale, and no opinion is no zero", () => {
    expect([scored(0, "state"), scored(-0.5, "credit"), scored(null, "credit")]).toEqual([
      "0.00 of 0 to 1",
      "−0.50 of −1 to 1",
      "no opinion",
    ]);
  });

  test("points of a curve: upwards is more that passed, the largest bin has the largest dot", () => {
    const bin = (score: number, n: number, passed: Estimate) => ({ low: 0, high: 1, n, score, passed });
    const drawn = points(
      {
        bins: [bin(0.25, 10, estimate(0, 0, 0.5)), bin(0.5, 40, estimate(1)), bin(0.75, 1, estimate(null))],
        ece: estimate(0),
        ece_by_luck: 0,
        mce: estimate(0),
      },
      100,
    );
    expect(drawn.map(({ x, y, top, bottom, radius }) => [x, y, top, bottom, radius])).toEqual([
      [25, 100, 50, 100, 5.5],
      [50, 0, null, null, 8],
    ]);
  });
});

describe("how far a judging is and what it took", () => {
  const asked = { requests: 0, cached: 0, uncounted: 0, tokens_in: 0, tokens_out: 0, cost: 0 };
  test("what is left is told apart from what could not be judged", () => {
    expect(counts({ state: "running", total: 40, judged: 12, missing: 3 })).toBe(
      "12 judged, 3 could not be judged, 25 not asked about yet, of 40 trajectories",
    );
    expect(counts({ state: "done", total: 1, judged: 1, missing: 0 })).toBe("1 judged, of 1 trajectory");
    expect(counts({ state: "queued", total: 0, judged: 0, missing: 0 })).toBe("not begun");
  });

  test("nothing where no model was asked; else requests, tokens and what is not counted", () => {
    expect(outlay(asked)).toBeNull();
    expect(outlay({ ...asked, requests: 2, cached: 1, uncounted: 1, tokens_in: 1200, tokens_out: 30, cost: 0.5 })).toBe(
      "2 requests; 1 answered from before; tokens 1,200 in, 30 out; 1 answer with tokens not counted; cost 0.50 in the unit of the prices",
    );
  });

  test("what was uploaded is called so", () => {
    expect([whole({ judge: "file", dataset: null }), whole({ judge: "rules", dataset: null })]).toEqual([
      "those uploaded",
      "all trajectories",
    ]);
    expect([whole({ judge: "rules", dataset: "d" }), unpaid({ judge: "rules" })]).toEqual([
      "data set d",
      "no model asked",
    ]);
  });
});

describe("options of a judge", () => {
  const offer = { segments: ["action", "call"], models: [{ name: "mine", model: "a-model" }] };
  test.each([
    [
      "segments",
      "str",
      [
        ["action", "action"],
        ["call", "call"],
      ],
    ],
    ["model", "str | none", [["mine", "mine (a-model)"]]],
    [
      "asks",
      "state | credit",
      [
        ["state", "state"],
        ["credit", "credit"],
      ],
    ],
    ["repeat", "int", null],
    ["max_cost", "float | none", null],
  ])("%s of type %s", (parameter, type, offered) => {
    expect(choices({ name: parameter, type }, offer)).toEqual(offered);
  });
});

test("the segments that a span is in, and what they are called", () => {
  const segments = [
    { actions: [1], spans: [1, 2] },
    { actions: [3], spans: [3] },
  ];
  expect(about(segments, 2)).toEqual([segments[0]]);
  expect(about(segments, 4)).toEqual([]);
  expect(segments.map(spansOf)).toEqual(["s1, s2", "s3"]);
});
