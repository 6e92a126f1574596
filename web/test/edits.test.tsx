import { QueryClientProvider } from "@tanstack/react-query";
import { cleanup, render, screen } from "@testing-library/react";
import fc from "fast-check";
import { afterEach, describe, expect, test } from "vitest";
import type { EdgeEvidence, Trajectory } from "../src/api";
import type { EdgeEdits, EditedEdge, EditPreview } from "../src/api-edges";
import { previewColumns } from "../src/editing";
import { PreviewTable } from "../src/parts/edge-preview";
import { Edges } from "../src/parts/edges";
import { type Draft, drafted, railEdits, sourceOf, without } from "../src/pure/edits";
import { graphOf } from "../src/pure/graph";
import { lanesOf } from "../src/pure/lanes";
import { draw, edgeKey, laneX, railWidth, standings } from "../src/pure/rail";
import { queryClient } from "../src/queries";

afterEach(cleanup);

const DERIVED: EdgeEvidence = {
  parent: 0,
  child: 1,
  kind: "value",
  weight: 0.9,
  rule: "value",
  why: "uses it",
  matches: [],
  sources: 1,
};

const said = (
  parent: number,
  child: number,
  action: "add" | "remove",
  derived: EdgeEvidence | null = null,
): EditedEdge => ({
  saying: { number: 1, parent, child, action, reason: "seen", person: "Ann", at: "2026-04-14T18:40:12Z" },
  derived,
});

const saved = (...in_force: EditedEdge[]): EdgeEdits => ({ in_force, history: [] });

const pairs = fc.tuple(fc.nat(4), fc.nat(4)).map(([a, b]) => ({ parent: Math.min(a, b), child: Math.max(a, b) + 1 }));
const drafts: fc.Arbitrary<Draft[]> = fc.array(
  fc.tuple(pairs, fc.constantFrom("add", "remove", "withdraw")).map(([pair, action]) => ({ ...pair, action }) as Draft),
);

describe("drafts", () => {
  test("of one pair the last counts, and what is dropped is gone", () => {
    fc.assert(
      fc.property(drafts, (some) => {
        const kept = some.reduce<Draft[]>((all, one) => drafted(all, one), []);
        const last = new Map(some.map((one) => [edgeKey(one.parent, one.child), one.action]));
        expect(new Map(kept.map((one) => [edgeKey(one.parent, one.child), one.action]))).toEqual(last);
        expect(kept.length).toBe(last.size);
        for (const one of kept) expect(without(kept, one)).not.toContainEqual(one);
      }),
    );
  });

  test("a source is typed as people write spans, and lies before the span that uses it", () => {
    expect([" s3 ", "3", "S3"].map((typed) => sourceOf(typed, 4))).toEqual([3, 3, 3]);
    expect(["", "s4", "s9", "-1", "3.5", "s", "ss3"].map((typed) => sourceOf(typed, 4))).toEqual(
      Array.from({ length: 7 }, () => null),
    );
  });
});

describe("the rail", () => {
  const graph = new Map([
    ["0-1", "override"],
    ["2-3", "value"],
  ]);

  test("crosses out what is removed, saved or not, and shows what is added but not saved", () => {
    const is = railEdits(
      saved(said(0, 2, "remove", DERIVED)),
      [
        { parent: 2, child: 3, action: "remove" },
        { parent: 1, child: 3, action: "add" },
        { parent: 0, child: 1, action: "add" },
      ],
      graph,
    );
    expect(is).toEqual({
      removed: [
        [0, 2],
        [2, 3],
      ],
      pending: [[1, 3]],
    });
  });

  test("a withdrawn removal comes back, a withdrawn addition goes, unless something was derived there", () => {
    const back = (action: "add" | "remove", derived: EdgeEvidence | null, key: string) => {
      const [parent, child] = key.split("-").map(Number) as [number, number];
      return railEdits(saved(said(parent, child, action, derived)), [{ parent, child, action: "withdraw" }], graph);
    };
    expect(back("remove", DERIVED, "0-2")).toEqual({ removed: [], pending: [[0, 2]] });
    expect(back("add", null, "0-1")).toEqual({ removed: [[0, 1]], pending: [] });
    expect(back("add", DERIVED, "0-1")).toEqual({ removed: [], pending: [] });
  });

  test("an edge that is crossed out is drawn once, as that", () => {
    const shown = graphOf(3, { parent: [0, 1], child: [1, 2], kind: ["value", "override"], weight: [1, 1] });
    const drawing = draw({
      graph: shown,
      lanes: lanesOf(shown),
      first: 0,
      last: 2,
      selected: null,
      standing: standings(shown, null),
      path: new Set(),
      edits: { removed: [[0, 1]], pending: [[0, 2]] },
      y: (span) => 100 * span,
    });
    expect(drawing.lines.map((line) => [line.edge, line.override])).toEqual([[1, true]]);
    expect(drawing.edited.map((line) => [line.key, line.look])).toEqual([
      ["0-1", "removed"],
      ["0-2", "pending"],
    ]);
    const down = Number(drawing.edited[1]?.path.match(/([\d.]+) [\d.]+V/)?.[1]);
    const lanes = [0, 1, 2].map((span) => laneX(lanesOf(shown), span));
    expect(down).toBeGreaterThan(Math.max(...lanes) + 8); // beside the nodes, not through those of a lane
    expect(down).toBeLessThan(railWidth(lanesOf(shown), shown));
    for (const line of drawing.edited) expect(line.y > 0 && line.y < 200).toBe(true);
  });
});

const TRAJECTORY = {
  kind: ["user", "tool_call", "tool_result"],
  name: [null, "search", "search"],
} as unknown as Trajectory;

test("a removed edge is struck through in the list, with who said so and why; its words stay text", () => {
  const gone = said(0, 1, "remove", { ...DERIVED, why: "<b>uses</b> it" });
  gone.saying.reason = "<img src=x> wrong";
  const shown = render(
    <QueryClientProvider client={queryClient}>
      <Edges
        title="Fed by"
        listed={[]}
        end="parent"
        trajectory={TRAJECTORY}
        removed={[gone]}
        pointed={null}
        onPoint={() => {}}
        onSelect={() => {}}
      />
    </QueryClientProvider>,
  ).container;
  expect([...shown.querySelectorAll("s")].map((one) => one.textContent)).toEqual(["user message", "<b>uses</b> it"]);
  expect(shown.textContent).toContain("removed by Ann: <img src=x> wrong");
  expect(shown.textContent).toContain("was value · weight 0.90, not used");
  expect(shown.querySelector("img, b")).toBeNull();
});

const SEEN: EditPreview = {
  run: "r",
  label: "dag",
  before: { credit: [null, -0.5, null], advantage: [null, -1, null] },
  after: { credit: [null, 0, null], advantage: [null, 0.5, null] },
  scale: 0.5,
  advantage_scale: 1,
  changed: 1,
  others_changed: 2,
  n_trajectories: 4,
  notes: [{ code: "critic", message: "it was not asked anew", span: null, trajectory: null, group: null }],
};

describe("a preview", () => {
  test("stands in the transcript as before, after and the change, on one scale that holds all three", () => {
    const { columns, full } = previewColumns(SEEN, "dag #2", "advantage");
    expect(columns.map((column) => [column.label, column.values[1]])).toEqual([
      ["dag #2 as it is", -1],
      ["dag #2 edited", 0.5],
      ["change", 1.5],
    ]);
    expect(full).toBe(1.5);
    expect(previewColumns(SEEN, "dag #2", "credit").full).toBe(0.5);
  });

  test("lists what changes with both numbers, and says what else does", () => {
    const shown = render(<PreviewTable seen={SEEN} show="credit" trajectory={TRAJECTORY} onSelect={() => {}} />);
    const cells = [...shown.container.querySelectorAll("tbody td.figure")].map((cell) => cell.textContent);
    expect(cells).toEqual(["−0.50", "0.00", "+0.50"]);
    expect(screen.getByRole("status").textContent).toContain("1 span changed.");
    expect(screen.getByRole("status").textContent).toContain("Numbers of 2 other trajectories change too.");
    expect(shown.container.textContent).toContain("it was not asked anew");
  });

  test("that changes nothing says so", () => {
    const same = { ...SEEN, after: SEEN.before, others_changed: 0 };
    render(<PreviewTable seen={same} show="credit" trajectory={TRAJECTORY} onSelect={() => {}} />);
    expect(screen.getByRole("status").textContent).toContain("No number of this trajectory changes.");
    expect(screen.queryByRole("table")).toBeNull();
  });
});
