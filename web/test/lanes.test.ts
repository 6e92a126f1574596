import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { at, CLAIM, cones, graphOf, strongest } from "../src/pure/graph";
import { lanesOf, lastConsumers, MOST_LANES } from "../src/pure/lanes";
import { draw, edgeStanding, standings } from "../src/pure/rail";

/** Random graphs whose edges go forward, ordered by child as the API has them. */
const graphs = fc.integer({ min: 1, max: 60 }).chain((n) =>
  fc
    .array(fc.tuple(fc.nat(n - 1), fc.nat(n - 1), fc.constantFrom(0.1, 0.25, 0.5, 1)), { maxLength: 120 })
    .map((pairs) => {
      const edges = pairs
        .filter(([a, b]) => a !== b)
        .map(([a, b, weight]) => ({ parent: Math.min(a, b), child: Math.max(a, b), weight }))
        .sort((x, y) => x.child - y.child || x.parent - y.parent);
      return graphOf(n, {
        parent: edges.map((edge) => edge.parent),
        child: edges.map((edge) => edge.child),
        kind: edges.map(() => "value"),
        weight: edges.map((edge) => edge.weight),
      });
    }),
);

/** A graph from "parent-child" pairs, all of them claims. */
function of(n: number, ...pairs: string[]) {
  const ends = pairs.map((pair) => pair.split("-").map(Number));
  return graphOf(n, {
    parent: ends.map((pair) => at(pair, 0)),
    child: ends.map((pair) => at(pair, 1)),
    kind: pairs.map(() => "value"),
    weight: pairs.map(() => 1),
  });
}

describe("lanes", () => {
  test("a chain stays in one lane", () => {
    expect([...lanesOf(of(4, "0-1", "1-2", "2-3")).lane]).toEqual([0, 0, 0, 0]);
  });

  test("what is used later keeps its lane, so what comes between moves over", () => {
    expect([...lanesOf(of(4, "0-3", "1-2")).lane]).toEqual([0, 1, 1, 0]);
  });

  test("spans that nothing uses take the first lane again and again", () => {
    expect([...lanesOf(of(3)).lane]).toEqual([0, 0, 0]);
  });

  test("more lanes than are drawn share the last one and say how many", () => {
    const many = MOST_LANES + 3;
    const pairs = Array.from({ length: many }, (_, i) => `${i}-${many + i}`);
    const { lane, extra, count } = lanesOf(of(2 * many, ...pairs));
    expect(count).toBe(MOST_LANES);
    expect([lane[many - 1], extra[many - 1]]).toEqual([MOST_LANES - 1, 3]);
  });

  test("no two spans are in one lane while both are waited for", () => {
    fc.assert(
      fc.property(graphs, (graph) => {
        const { lane, extra } = lanesOf(graph);
        const last = lastConsumers(graph);
        for (let a = 0; a < graph.n; a++)
          for (let b = a + 1; b < graph.n; b++) {
            if (lane[a] !== lane[b] || extra[a] !== extra[b]) continue;
            expect(at(last, a)).toBeLessThanOrEqual(b);
          }
      }),
    );
  });
});

describe("cones", () => {
  test("a diamond seen from its middle", () => {
    const { ancestor, descendant } = cones(of(5, "0-1", "0-2", "1-3", "2-3"), 1);
    expect([[...ancestor], [...descendant]]).toEqual([
      [1, 0, 0, 0, 0],
      [0, 0, 0, 1, 0],
    ]);
  });

  test("candidates are not followed", () => {
    const graph = graphOf(2, { parent: [0], child: [1], kind: ["context"], weight: [0.2] });
    expect([...cones(graph, 1).ancestor]).toEqual([0, 0]);
  });

  test("they are what a closure over claims finds, and one is the other seen from the far end", () => {
    fc.assert(
      fc.property(graphs, fc.nat(), (graph, pick) => {
        const span = pick % graph.n;
        const { ancestor, descendant } = cones(graph, span);
        const closed = closure(graph);
        for (let other = 0; other < graph.n; other++) {
          expect(ancestor[other] === 1).toBe(closed[other]?.[span] ?? false);
          expect(descendant[other] === 1).toBe(closed[span]?.[other] ?? false);
        }
      }),
    );
  });
});

/** Reachability the slow way: Warshall. */
function closure(graph: ReturnType<typeof graphOf>): boolean[][] {
  const reach = Array.from({ length: graph.n }, () => new Array<boolean>(graph.n).fill(false));
  graph.parent.forEach((parent, edge) => {
    if (at(graph.weight, edge) >= CLAIM) at(reach, parent)[at(graph.child, edge)] = true;
  });
  for (let k = 0; k < graph.n; k++)
    for (let i = 0; i < graph.n; i++)
      if (at(at(reach, i), k))
        for (let j = 0; j < graph.n; j++) at(reach, i)[j] = at(at(reach, i), j) || at(at(reach, k), j);
  return reach;
}

describe("the walk", () => {
  test("goes to the heaviest edge, of equal ones to the nearest span", () => {
    const graph = graphOf(4, { parent: [0, 1, 2], child: [3, 3, 3], kind: ["a", "b", "c"], weight: [1, 1, 0.5] });
    expect([strongest(graph, 3, "parent"), strongest(graph, 0, "parent"), strongest(graph, 1, "child")]).toEqual([
      1,
      null,
      3,
    ]);
  });
});

describe("the rail", () => {
  const place = (graph: ReturnType<typeof graphOf>, selected: number | null) => ({
    graph,
    lanes: lanesOf(graph),
    first: 0,
    last: graph.n - 1,
    selected,
    standing: standings(graph, selected),
    path: new Set(["0-1"]),
    y: (span: number) => 40 * span,
  });

  test("a long edge is a stub at both ends until an end is selected", () => {
    const graph = of(100, "0-99");
    const far = (selected: number | null) => draw({ ...place(graph, selected), path: new Set() });
    expect(far(null).stubs.map((stub) => stub.label)).toEqual(["s99", "s0"]);
    expect([far(99).stubs.length, far(99).lines.length]).toEqual([0, 1]);
  });

  test("the path to the outcome is drawn last, over the rest", () => {
    expect(draw(place(of(3, "0-1", "0-2"), null)).lines.map((line) => line.onPath)).toEqual([false, true]);
  });

  test("an edge is in a cone when both its ends are", () => {
    expect([
      edgeStanding("ancestor", "self"),
      edgeStanding("self", "descendant"),
      edgeStanding("ancestor", "descendant"),
      edgeStanding("ancestor", "apart"),
      edgeStanding("plain", "plain"),
    ]).toEqual(["ancestor", "descendant", "apart", "apart", "plain"]);
  });
});
