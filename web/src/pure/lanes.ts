/** Lanes of the rail, as in a version-control graph: a lane is busy from a span to its last consumer. */

import { at, CLAIM, edgesInto, edgesOutOf, type Graph } from "./graph";

export const MOST_LANES = 14;

export interface Lanes {
  /** The lane of every span, 0 to `count` - 1. */
  lane: Int32Array;
  /** How many lanes further right a span belongs; above 0 only in the last lane. */
  extra: Int32Array;
  count: number;
}

export function lanesOf(graph: Graph): Lanes {
  const wanted = assign(graph);
  const lane = wanted.map((l) => Math.min(l, MOST_LANES - 1));
  return {
    lane,
    extra: wanted.map((l) => Math.max(0, l - (MOST_LANES - 1))),
    count: lane.reduce((most, l) => Math.max(most, l + 1), 1),
  };
}

/** The lowest lane that is free; a child goes on in a parent's lane where it is the last to use it. */
function assign(graph: Graph): Int32Array {
  const last = lastConsumers(graph);
  const ending: number[][] = Array.from({ length: graph.n }, () => []);
  const free = new Heap();
  const lane = new Int32Array(graph.n);
  let opened = 0;
  for (let i = 0; i < graph.n; i++) {
    const inherited = at(ending, i).sort((a, b) => a - b);
    const taken = inherited.shift() ?? free.pop() ?? opened++;
    lane[i] = taken;
    inherited.forEach((l) => {
      free.push(l);
    });
    if (at(last, i) > i) at(ending, at(last, i)).push(taken);
    else free.push(taken);
  }
  return lane;
}

/** The last span that uses each one along a claim; the span itself where none does. */
export function lastConsumers(graph: Graph): Int32Array {
  return Int32Array.from({ length: graph.n }, (_, span) =>
    edgesOutOf(graph, span).reduce(
      (last, edge) => (at(graph.weight, edge) < CLAIM ? last : Math.max(last, at(graph.child, edge))),
      span,
    ),
  );
}

/** Edges that cross or touch rows `from` to `to`. */
export function edgesWithin(graph: Graph, from: number, to: number): number[] {
  return graph.parent.flatMap((parent, edge) => (parent <= to && at(graph.child, edge) >= from ? [edge] : []));
}

/** Edges at one end of which a span stands. */
export function edgesAt(graph: Graph, span: number): number[] {
  return [...edgesInto(graph, span), ...edgesOutOf(graph, span)];
}

/** Smallest number first. */
class Heap {
  private readonly items: number[] = [];

  push(value: number): void {
    let i = this.items.push(value) - 1;
    while (i > 0 && at(this.items, (i - 1) >> 1) > at(this.items, i)) i = this.swap(i, (i - 1) >> 1);
  }

  pop(): number | undefined {
    const top = this.items[0];
    const end = this.items.pop();
    if (top === undefined || end === undefined || this.items.length === 0) return top;
    this.items[0] = end;
    for (let i = 0; ; ) {
      const least = [2 * i + 1, 2 * i + 2].reduce(
        (m, c) => ((this.items[c] ?? Infinity) < at(this.items, m) ? c : m),
        i,
      );
      if (least === i) return top;
      i = this.swap(i, least);
    }
  }

  private swap(i: number, j: number): number {
    const held = at(this.items, i);
    this.items[i] = at(this.items, j);
    this.items[j] = held;
    return j;
  }
}
