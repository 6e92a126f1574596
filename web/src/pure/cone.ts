/** Which spans of a cone are drawn: what a span rests on and what rests on it, the strongest first. */

import { at, CLAIM, edgesInto, edgesOutOf, type Graph } from "./graph";
import { edgeStanding, type Standing } from "./rail";

/** Spans a drawing has at most: layered layout does not scale. */
export const MOST_NODES = 150;
/** Edges it has at most; those by which its spans were reached are always among them. */
export const MOST_EDGES = 400;

export interface ConeNode {
  span: number;
  standing: Exclude<Standing, "plain" | "apart">;
}

export interface Cone {
  /** By position in the transcript. */
  nodes: ConeNode[];
  /** Edges of the graph with both ends drawn, within one of the two cones. */
  edges: number[];
  /** Spans that the span rests on, and that rest on it, drawn or not. */
  above: number;
  below: number;
  /** Spans of the cone that are not drawn, and edges between those that are. */
  left: number;
  leftEdges: number;
}

interface Reached {
  span: number;
  /** The product of the weights along the best path, and the edges on the shortest of the best. */
  strength: number;
  hops: number;
  /** The first edge of that path, seen from this span. */
  by: number;
}

/** The cone of a span, at most `most` spans of it: those that the surest paths lead to, of equal ones the nearest. */
export function coneOf(graph: Graph, span: number, most = MOST_NODES): Cone {
  const above = reached(graph, span, "parent").map((one) => ({ ...one, standing: "ancestor" as const }));
  const below = reached(graph, span, "child").map((one) => ({ ...one, standing: "descendant" as const }));
  const far = (one: Reached) => Math.abs(one.span - span);
  const ranked = [...above, ...below].sort(
    (a, b) => b.strength - a.strength || a.hops - b.hops || far(a) - far(b) || a.span - b.span,
  );
  const shown = ranked.slice(0, Math.max(0, most - 1));
  const standing = new Map<number, ConeNode["standing"]>(shown.map((one) => [one.span, one.standing]));
  standing.set(span, "self");
  const nodes = [...standing].map(([one, is]) => ({ span: one, standing: is })).sort((a, b) => a.span - b.span);
  const [edges, leftEdges] = edgesAmong(graph, standing, new Set(shown.map((one) => one.by)));
  const left = ranked.length - shown.length;
  return { nodes, edges, above: above.length, below: below.length, left, leftEdges };
}

/** Every ancestor (by way of parents) or descendant along claims. Parents come first, so one pass in order is enough. */
function reached(graph: Graph, span: number, way: "parent" | "child"): Reached[] {
  const strength = new Float64Array(graph.n);
  const hops = new Int32Array(graph.n);
  const by = new Int32Array(graph.n);
  strength[span] = 1;
  const found: Reached[] = [];
  const step = way === "parent" ? -1 : 1;
  for (let here = span; here >= 0 && here < graph.n; here += step) {
    if (at(strength, here) === 0) continue;
    if (here !== span) found.push({ span: here, strength: at(strength, here), hops: at(hops, here), by: at(by, here) });
    for (const edge of way === "parent" ? edgesInto(graph, here) : edgesOutOf(graph, here)) {
      const weight = at(graph.weight, edge);
      if (weight < CLAIM) continue;
      const next = at(graph[way], edge);
      const [sure, long] = [at(strength, here) * weight, at(hops, here) + 1];
      if (sure > at(strength, next) || (sure === at(strength, next) && long < at(hops, next))) {
        strength[next] = sure;
        hops[next] = long;
        by[next] = edge;
      }
    }
  }
  return found;
}

/** The edges that are drawn, those that must be and then the heaviest and shortest, and how many are not. */
function edgesAmong(
  graph: Graph,
  standing: ReadonlyMap<number, ConeNode["standing"]>,
  must: ReadonlySet<number>,
): [number[], number] {
  const of = (span: number): Standing => standing.get(span) ?? "apart";
  const long = (edge: number) => at(graph.child, edge) - at(graph.parent, edge);
  const all = [...standing.keys()]
    .flatMap((child) => [...edgesInto(graph, child)])
    .filter((edge) => {
      if (at(graph.weight, edge) < CLAIM) return false;
      return edgeStanding(of(at(graph.parent, edge)), of(at(graph.child, edge))) !== "apart";
    })
    .sort(
      (a, b) =>
        Number(must.has(b)) - Number(must.has(a)) ||
        at(graph.weight, b) - at(graph.weight, a) ||
        long(a) - long(b) ||
        a - b,
    );
  const shown = all.slice(0, MOST_EDGES).sort((a, b) => a - b);
  return [shown, all.length - shown.length];
}

/** What a layout is asked for and what it answers: pixels, nodes by their middle. */
export interface Sketch {
  nodes: { span: number; width: number; height: number }[];
  edges: { edge: number; parent: number; child: number }[];
}

export interface Point {
  x: number;
  y: number;
}

export interface Layout {
  width: number;
  height: number;
  nodes: Map<number, Point>;
  edges: Map<number, Point[]>;
}

/** Part of the layout that is in view. */
export interface Window {
  left: number;
  top: number;
  width: number;
  height: number;
}

/** Pixels beside a box that is brought into view. */
const ROOM = 12;

/**
 * Where a view of this size starts: at the left where the box at `self` fits there too, else with the first of its
 * sources at the edge, and in any case with the whole of its own box.
 */
export function startAt(self: Point, sources: readonly Point[], box: Size, view: Size): Point {
  const right = self.x + box.width / 2 + ROOM - view.width;
  const first = Math.min(self.x, ...sources.map((one) => one.x)) - box.width / 2 - ROOM;
  return { x: right <= 0 ? 0 : Math.max(0, right, first), y: Math.max(0, self.y - view.height / 2) };
}

export interface Size {
  width: number;
  height: number;
}

/** How many boxes are not wholly in view. */
export function outOfView({ nodes, width }: Layout, box: Size, view: Window): number {
  const shift = Math.max(0, (view.width - width) / 2); // what is narrower than its room stands in the middle
  const outside = (middle: number, half: number, from: number, room: number) =>
    middle - half < from - 1 || middle + half > from + room + 1;
  return [...nodes.values()].filter(
    ({ x, y }) =>
      outside(x + shift, box.width / 2, view.left, view.width) || outside(y, box.height / 2, view.top, view.height),
  ).length;
}

/** A line through the points, bent halfway between each and the next. */
export function smooth(points: readonly Point[]): string {
  const [first, ...rest] = points;
  if (!first) return "";
  const round = (value: number) => Math.round(10 * value) / 10;
  const put = ({ x, y }: Point) => `${round(x)} ${round(y)}`;
  const bends = rest.slice(0, -1).map((point, i) => {
    const next = rest[i + 1] ?? point;
    const middle = i === rest.length - 2 ? next : { x: (point.x + next.x) / 2, y: (point.y + next.y) / 2 };
    return `Q${put(point)} ${put(middle)}`;
  });
  return `M${put(first)}${bends.length > 0 ? bends.join("") : rest.map((point) => `L${put(point)}`).join("")}`;
}
