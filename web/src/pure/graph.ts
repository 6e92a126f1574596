/** The dependency graph of one trajectory, as columns and with both directions indexed. */

export interface EdgeColumns {
  parent: number[];
  child: number[];
  kind: string[];
  weight: number[];
}

export interface Graph extends EdgeColumns {
  n: number;
  /** Edges into span i are `incoming[inOffsets[i]..inOffsets[i + 1]]`; likewise out of it. */
  inOffsets: Int32Array;
  incoming: Int32Array;
  outOffsets: Int32Array;
  outgoing: Int32Array;
}

/** Edges below this confidence are candidates, not claims (docs/edges.md). */
export const CLAIM = 0.25;

export function graphOf(n: number, edges: EdgeColumns): Graph {
  const [inOffsets, incoming] = index(n, edges.child);
  const [outOffsets, outgoing] = index(n, edges.parent);
  return { ...edges, n, inOffsets, incoming, outOffsets, outgoing };
}

/** Positions of equal keys side by side: a counting sort. */
function index(n: number, keys: number[]): [Int32Array, Int32Array] {
  const offsets = new Int32Array(n + 1);
  for (const key of keys) offsets[key + 1] = at(offsets, key + 1) + 1;
  for (let i = 0; i < n; i++) offsets[i + 1] = at(offsets, i + 1) + at(offsets, i);
  const next = offsets.slice(0, n);
  const sorted = new Int32Array(keys.length);
  keys.forEach((key, edge) => {
    sorted[at(next, key)] = edge;
    next[key] = at(next, key) + 1;
  });
  return [offsets, sorted];
}

/** An entry that is known to be there. */
export function at<T>(column: ArrayLike<T>, i: number): T {
  return column[i] as T;
}

export function edgesInto(graph: Graph, span: number): Int32Array {
  return graph.incoming.subarray(at(graph.inOffsets, span), at(graph.inOffsets, span + 1));
}

export function edgesOutOf(graph: Graph, span: number): Int32Array {
  return graph.outgoing.subarray(at(graph.outOffsets, span), at(graph.outOffsets, span + 1));
}

export interface Cones {
  /** 1 where the span is an ancestor of the selected one. */
  ancestor: Uint8Array;
  descendant: Uint8Array;
}

/** What a span rests on and what rests on it, along claims only. */
export function cones(graph: Graph, span: number): Cones {
  return {
    ancestor: reach(graph, span, edgesInto, graph.parent),
    descendant: reach(graph, span, edgesOutOf, graph.child),
  };
}

function reach(graph: Graph, span: number, edgesOf: typeof edgesInto, end: number[]): Uint8Array {
  const seen = new Uint8Array(graph.n);
  const open = [span];
  for (let here = open.pop(); here !== undefined; here = open.pop()) {
    for (const edge of edgesOf(graph, here)) {
      const next = at(end, edge);
      if (at(graph.weight, edge) < CLAIM || seen[next]) continue;
      seen[next] = 1;
      open.push(next);
    }
  }
  return seen;
}

/** The heaviest edge of a span in one direction; of equal ones the nearest span. */
export function strongest(graph: Graph, span: number, direction: "parent" | "child"): number | null {
  const edges = direction === "parent" ? edgesInto(graph, span) : edgesOutOf(graph, span);
  const far = (edge: number) => Math.abs(at(graph[direction], edge) - span);
  let best: number | null = null;
  for (const edge of edges) {
    const gain = best === null ? 1 : at(graph.weight, edge) - at(graph.weight, best);
    if (best === null || gain > 0 || (gain === 0 && far(edge) < far(best))) best = edge;
  }
  return best === null ? null : at(graph[direction], best);
}
