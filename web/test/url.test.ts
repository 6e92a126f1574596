import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { SCALES } from "../src/pure/scale";
import {
  DRAWINGS,
  dashboardPath,
  exportsPath,
  FILTERS,
  FOLDS,
  groupPath,
  groupsPath,
  labelsPath,
  listPath,
  NO_EXPORT,
  PLAIN,
  readExport,
  readList,
  readView,
  route,
  runPath,
  runsPath,
  SHOWS,
  SORTS,
  TOKENS,
  trajectoryPath,
  uploadPath,
  writeExport,
  writeList,
  writeView,
} from "../src/pure/url";

const name = fc.string({ unit: "grapheme", minLength: 1, maxLength: 30 });

const views = fc.record({
  span: fc.oneof(fc.constant(null), fc.constant("none" as const), fc.nat(1e6)),
  by: fc.option(name, { nil: null }),
  vs: fc.option(name, { nil: null }),
  diff: fc.boolean(),
  scale: fc.constantFrom(...SCALES),
  show: fc.constantFrom(...SHOWS),
  fold: fc.subarray([...FOLDS]),
  q: fc.option(name, { nil: null }),
  occ: fc.nat(1e6),
  view: fc.constantFrom(...DRAWINGS),
  edit: fc.boolean(),
});

const lists = fc.record({
  filters: fc.subarray([...FILTERS]).chain((names) => fc.record(Object.fromEntries(names.map((key) => [key, name])))),
  sort: fc.constantFrom(...SORTS),
  run: fc.option(name, { nil: null }),
});

const exports = fc.record({
  run: fc.option(name, { nil: null }),
  to: name,
  parameters: fc.dictionary(
    name.filter((key) => key !== "__proto__"),
    name,
    { noNullPrototype: true },
  ),
  tokenizer: fc.option(name, { nil: null }),
  trajectory: fc.option(name, { nil: null }),
  row: fc.nat(1e6),
  from: fc.nat(1e5).map((window) => window * TOKENS),
});

describe("views are links", () => {
  test("what is written is read back", () => {
    fc.assert(
      fc.property(views, (view) => {
        expect(readView(writeView(view))).toEqual({ ...view, occ: view.q === null ? 0 : view.occ });
      }),
    );
    fc.assert(
      fc.property(lists, (list) => {
        expect(readList(writeList(list))).toEqual(list);
      }),
    );
    fc.assert(
      fc.property(exports, (view) => {
        expect(readExport(writeExport(view))).toEqual(view);
      }),
    );
  });

  test("a plain view needs no parameters", () => {
    expect(writeView(PLAIN)).toBe("");
    expect(writeExport(NO_EXPORT)).toBe("");
  });

  test("a window begins where windows do, and no link leaves trajectories out", () => {
    expect(readExport("?from=2345&row=-1&p.=x&p.share=last&p.stop=&p.misaligned=drop")).toEqual({
      ...NO_EXPORT,
      from: 2000,
      parameters: { share: "last" },
    });
  });

  test("nonsense in a link is left out, never an error", () => {
    expect(readView("?span=x9&scale=log&show=&fold=all,think&diff=yes")).toEqual({ ...PLAIN, fold: ["think"] });
    fc.assert(fc.property(fc.string(), (text) => void readView(text)));
  });
});

describe("paths", () => {
  test("projects and trajectories may be called anything", () => {
    fc.assert(
      fc.property(name, name, (project, trajectory) => {
        expect(route(listPath(project))).toEqual({ view: "list", project });
        expect(route(exportsPath(project))).toEqual({ view: "exports", project });
        expect(route(uploadPath(project))).toEqual({ view: "upload", project });
        expect(route(groupsPath(project))).toEqual({ view: "groups", project });
        expect(route(dashboardPath(project))).toEqual({ view: "dashboard", project });
        expect(route(labelsPath(project))).toEqual({ view: "labels", project });
        expect(route(runsPath(project))).toEqual({ view: "runs", project });
        expect(route(trajectoryPath(project, trajectory))).toEqual({ view: "trajectory", project, trajectory });
        expect(route(groupPath(project, trajectory))).toEqual({ view: "group", project, group: trajectory });
        expect(route(runPath(project, trajectory))).toEqual({ view: "run", project, run: trajectory });
      }),
    );
  });

  test.each(["/p/x/t", "/q/x/t/y", "/p/x/t/y/z", "/p/%E0%A4%A/t/y", "/p/x/dash/y", "/p/x/g"])("%s is nowhere", (path) =>
    expect(route(path).view).toBe("nowhere"),
  );

  test("the root is the start", () => expect(route("/").view).toBe("start"));
});
