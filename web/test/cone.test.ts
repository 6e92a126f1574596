import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { coneOf, MOST_EDGES, outOfView, smooth, startAt } from "../src/pure/cone";
import { at, CLAIM, cones, edgesInto, edgesOutOf, type Graph, graphOf } from "../src/pure/graph";

interface Ends {
  parent: number;
  child: number;
  weight: number;
}

const built = (n: number, edges: Ends[]) =>
  graphOf(n, {
    parent: edges.map((edge) => edge.parent),
    child: edges.map((edge) => edge.child),
    kind: edges.map(() => "value"),
    weight: edges.map((edge) => edge.weight),
  });

/** Random graphs whose edges go forward, small enough for every path to be walked. */
const scenes = fc.integer({ min: 1, max: 9 }).chain((n) =>
  fc.record({
    graph: fc
      .array(fc.tuple(fc.nat(n - 1), fc.nat(n - 1), fc.constantFrom(0.1, 0.25, 0.5, 1)), { maxLength: 16 })
      .map((pairs) => {
        const edges = pairs
          .filter(([a, b]) => a !== b)
          .map(([a, b, weight]) => ({ parent: Math.min(a, b), child: Math.max(a, b), weight }));
        return built(
          n,
          edges.sort((x, y) => x.child - y.child || x.parent - y.parent),
        );
      }),
    span: fc.nat(n - 1),
    most: fc.integer({ min: 1, max: 10 }),
  }),
);

/** Every path from the span one way, walked whole: the strength and length of the best to each end. */
function naive(graph: Graph, span: number, way: "parent" | "child") {
  const best = new Map<number, { strength: number; hops: number }>();
  const walk = (here: number, strength: number, hops: number) => {
    if (here !== span) {
      const known = best.get(here);
      if (!known || strength > known.strength || (strength === known.strength && hops < known.hops)) {
        best.set(here, { strength, hops });
      }
    }
    for (const edge of way === "parent" ? edgesInto(graph, here) : edgesOutOf(graph, here)) {
      if (at(graph.weight, edge) >= CLAIM) walk(at(graph[way], edge), strength * at(graph.weight, edge), hops + 1);
    }
  };
  walk(span, 1, 0);
  return best;
}

describe("the cone that is drawn", () => {
  test("holds the spans that the surest paths lead to, as walking every path finds them", () => {
    fc.assert(
      fc.property(scenes, ({ graph, span, most }) => {
        const all = [...naive(graph, span, "parent"), ...naive(graph, span, "child")].sort(
          ([a, x], [b, y]) =>
            y.strength - x.strength || x.hops - y.hops || Math.abs(a - span) - Math.abs(b - span) || a - b,
        );
        const wanted = all.slice(0, most - 1).map(([one]) => one);
        const { nodes, left } = coneOf(graph, span, most);
        expect(nodes.map((node) => node.span)).toEqual([...wanted, span].sort((a, b) => a - b));
        expect(left).toBe(all.length - wanted.length);
      }),
    );
  });

  test("whole, it is the two cones of the rail", () => {
    fc.assert(
      fc.property(scenes, ({ graph, span }) => {
        const { ancestor, descendant } = cones(graph, span);
        const { nodes, left, above, below } = coneOf(graph, span);
        expect(left).toBe(0);
        expect(above + below).toBe(nodes.length - 1);
        for (const { span: one, standing } of nodes) {
          expect(standing).toBe(one === span ? "self" : ancestor[one] ? "ancestor" : "descendant");
        }
        expect(nodes.length - 1).toBe([...ancestor, ...descendant].filter((is) => is === 1).length);
      }),
    );
  });

  test("every node but the span itself hangs on another that is drawn, and every edge joins two of them", () => {
    fc.assert(
      fc.property(scenes, ({ graph, span, most }) => {
        const { nodes, edges } = coneOf(graph, span, most);
        const drawn = new Set(nodes.map((node) => node.span));
        const ends = edges.map((edge) => [at(graph.parent, edge), at(graph.child, edge)]);
        for (const [parent, child] of ends) {
          expect(drawn.has(parent ?? -1) && drawn.has(child ?? -1)).toBe(true);
        }
        expect(new Set(edges).size).toBe(edges.length);
        for (const { span: one, standing } of nodes) {
          if (standing === "self") continue;
          const [own, other] = standing === "ancestor" ? [0, 1] : [1, 0];
          expect(ends.some((pair) => pair[own] === one && drawn.has(pair[other] ?? -1))).toBe(true);
        }
      }),
    );
  });

  test("edges are counted where there are too many, and those that hold it together are kept", () => {
    const n = 40;
    const all = Array.from({ length: n }, (_, child) =>
      Array.from({ length: child }, (_, parent) => ({ parent, child, weight: parent === child - 1 ? 0.3 : 0.9 })),
    ).flat();
    const { nodes, edges, leftEdges, above, below } = coneOf(built(n, all), n - 1);
    expect([nodes.length, edges.length, leftEdges]).toEqual([n, MOST_EDGES, all.length - MOST_EDGES]);
    expect([above, below]).toEqual([n - 1, 0]);
    const held = new Set(edges.map((edge) => all[edge]?.parent));
    expect(held.size).toBe(n - 1);
  });

  test("a candidate is followed nowhere, and an edge past the span is in neither cone", () => {
    const graph = built(4, [
      { parent: 0, child: 1, weight: 0.2 },
      { parent: 1, child: 2, weight: 1 },
      { parent: 1, child: 3, weight: 1 },
      { parent: 2, child: 3, weight: 1 },
    ]);
    const { nodes, edges } = coneOf(graph, 2);
    expect(nodes.map((node) => node.span)).toEqual([1, 2, 3]);
    expect(edges.map((edge) => [graph.parent[edge], graph.child[edge]])).toEqual([
      [1, 2],
      [2, 3],
    ]);
  });
});

test("a line goes from its first point to its last, and is straight between two", () => {
  expect(smooth([])).toBe("");
  expect(
    smooth([
      { x: 0, y: 0 },
      { x: 10, y: 5.04 },
    ]),
  ).toBe("M0 0L10 5");
  const bent = smooth([
    { x: 0, y: 0 },
    { x: 10, y: 10 },
    { x: 20, y: 0 },
    { x: 30, y: 10 },
  ]);
  expect(bent).toBe("M0 0Q10 10 15 5Q20 0 30 10");
});

describe("a view on the cone", () => {
  const box = { width: 100, height: 30 };
  const view = { width: 400, height: 200 };

  test("starts at the left where the selected box fits there, else with its sources at the edge", () => {
    expect(startAt({ x: 300, y: 50 }, [{ x: 60, y: 20 }], box, view)).toEqual({ x: 0, y: 0 });
    expect(startAt({ x: 900, y: 350 }, [{ x: 750, y: 20 }], box, view)).toEqual({ x: 688, y: 250 });
    expect(startAt({ x: 900, y: 50 }, [], box, view)).toEqual({ x: 838, y: 0 });
  });

  test("has the whole selected box in it, however far its sources are", () => {
    const start = startAt({ x: 900, y: 50 }, [{ x: 60, y: 50 }], box, view);
    expect(start.x).toBe(562);
    expect(start.x + view.width).toBeGreaterThan(950);
  });

  test("says how many boxes are not wholly in it", () => {
    const places = [60, 200, 340, 480].map((x, i): [number, { x: number; y: number }] => [i, { x, y: 50 }]);
    const layout = { width: 540, height: 100, nodes: new Map(places), edges: new Map() };
    expect(outOfView(layout, box, { left: 0, top: 0, ...view })).toBe(1);
    expect(outOfView(layout, box, { left: 140, top: 0, ...view })).toBe(1);
    expect(outOfView(layout, box, { left: 0, top: 40, ...view })).toBe(4);
    expect(outOfView(layout, box, { left: 0, top: 0, width: 900, height: 200 })).toBe(0);
  });
});
