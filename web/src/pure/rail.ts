/** Where the rail's lines run. Rows have any height: `y` gives the middle of a span's node. */

import { at, CLAIM, cones, type Graph } from "./graph";
import { edgesAt, edgesWithin, type Lanes } from "./lanes";

export const FAR = 60;

/** Pixels from lane to lane: closer where there are many, so that the transcript keeps its room. */
export const pitch = (lanes: Lanes) => (lanes.count > 6 ? 9 : 13);

/** Room for the lanes, and for the numbers beside the last one where edges are too long to draw. */
export function railWidth(lanes: Lanes, graph: Graph): number {
  const far = graph.parent.some((parent, edge) => at(graph.child, edge) - parent > FAR);
  return Math.max(3, lanes.count) * pitch(lanes) + 12 + (far ? 24 : 0);
}

/** The middle of a span's lane. */
export const laneX = (lanes: Lanes, span: number) => 10 + at(lanes.lane, span) * pitch(lanes);

/** How a span or an edge stands to the selected span. */
export type Standing = "plain" | "self" | "ancestor" | "descendant" | "apart";

export interface Line {
  edge: number;
  path: string;
  standing: Standing;
  candidate: boolean;
  onPath: boolean;
  /** Whether a person said so. */
  override: boolean;
}

/** An edge that is not in the graph: taken out by a person, or put in and not saved yet. */
export interface EditedLine {
  key: string;
  path: string;
  look: "removed" | "pending";
  /** Where it is crossed out. */
  x: number;
  y: number;
}

/** An end in view of edges too long to be drawn: a short line and the number of the other end. */
export interface Stub {
  key: string;
  path: string;
  x: number;
  y: number;
  label: string;
}

export type Pair = readonly [parent: number, child: number];

/** What the rail draws beside the graph as it is stored: edges that are not used, and edges that are not saved yet. */
export interface RailEdits {
  removed: Pair[];
  pending: Pair[];
}

export const NO_EDITS: RailEdits = { removed: [], pending: [] };

export interface Drawing {
  lines: Line[];
  edited: EditedLine[];
  stubs: Stub[];
}

export interface Place {
  graph: Graph;
  lanes: Lanes;
  first: number;
  last: number;
  selected: number | null;
  standing: (span: number) => Standing;
  path: ReadonlySet<string>;
  edits?: RailEdits;
  y: (span: number) => number;
}

export const edgeKey = (parent: number, child: number) => `${parent}-${child}`;

export function standings(graph: Graph, selected: number | null): (span: number) => Standing {
  if (selected === null) return () => "plain";
  const { ancestor, descendant } = cones(graph, selected);
  return (span) =>
    span === selected ? "self" : ancestor[span] ? "ancestor" : descendant[span] ? "descendant" : "apart";
}

export function draw(place: Place): Drawing {
  const { graph, selected, edits = NO_EDITS } = place;
  const gone = new Set(edits.removed.map((pair) => edgeKey(...pair)));
  const near = selected === null ? new Set<number>() : new Set(edgesAt(graph, selected));
  const lines: Line[] = [];
  const long: number[] = [];
  for (const edge of edgesWithin(graph, place.first, place.last)) {
    const [parent, child] = [at(graph.parent, edge), at(graph.child, edge)];
    if (gone.has(edgeKey(parent, child))) continue;
    const onPath = place.path.has(edgeKey(parent, child));
    if (child - parent <= FAR || near.has(edge) || onPath) lines.push(line(place, edge, onPath));
    else if (at(graph.weight, edge) >= CLAIM) long.push(edge);
  }
  lines.sort((a, b) => Number(a.onPath) - Number(b.onPath));
  return { lines, edited: editedLines(place, edits), stubs: stubs(place, long) };
}

function editedLines(place: Place, { removed, pending }: RailEdits): EditedLine[] {
  const inView = ([parent, child]: Pair) => parent <= place.last && child >= place.first;
  const drawn = (look: EditedLine["look"]) => (pair: Pair) => {
    const [top, bottom] = [place.y(pair[0]), place.y(pair[1])];
    const middle = top + Math.min((bottom - top) / 2, Math.max(0, bottom - top - 26));
    const path = look === "pending" ? beside(place, ...pair) : curve(place, ...pair);
    return { key: edgeKey(...pair), path, look, x: laneX(place.lanes, pair[0]), y: middle };
  };
  return [...removed.filter(inView).map(drawn("removed")), ...pending.filter(inView).map(drawn("pending"))];
}

function line(place: Place, edge: number, onPath: boolean): Line {
  const { graph } = place;
  const [parent, child] = [at(graph.parent, edge), at(graph.child, edge)];
  return {
    edge,
    path: curve(place, parent, child),
    standing: edgeStanding(place.standing(parent), place.standing(child)),
    candidate: at(graph.weight, edge) < CLAIM,
    onPath,
    override: graph.kind[edge] === "override",
  };
}

/** An edge belongs to a cone when both its ends do, the selected span counting as part of either. */
export function edgeStanding(parent: Standing, child: Standing): Standing {
  if (parent === "plain") return "plain";
  if (parent === "ancestor" && (child === "ancestor" || child === "self")) return "ancestor";
  if (child === "descendant" && (parent === "descendant" || parent === "self")) return "descendant";
  return "apart";
}

/** Down the parent's lane, then over to the child within the last row. */
function curve({ lanes, y }: Place, parent: number, child: number): string {
  const [x1, x2] = [laneX(lanes, parent), laneX(lanes, child)];
  const [y1, y2] = [y(parent), y(child)];
  if (x1 === x2) return `M${x1} ${y1}V${y2}`;
  const bend = Math.min(26, y2 - y1);
  return `M${x1} ${y1}V${y2 - bend}C${x1} ${y2 - bend / 3} ${x2} ${y2 - (2 * bend) / 3} ${x2} ${y2}`;
}

/** Out of the parent, down to the right of all lanes, and back: in a lane it would run over other nodes, as if through them. */
function beside({ lanes, y }: Place, parent: number, child: number): string {
  const [x1, x2] = [laneX(lanes, parent), laneX(lanes, child)];
  const [y1, y2] = [y(parent), y(child)];
  const right = 10 + Math.max(3, lanes.count) * pitch(lanes) - 2;
  const bend = Math.min(16, (y2 - y1) / 2);
  const turn = bend / 2;
  return `M${x1} ${y1}C${right} ${y1} ${right} ${y1 + turn} ${right} ${y1 + bend}V${y2 - bend}C${right} ${y2 - turn} ${right} ${y2} ${x2} ${y2}`;
}

/** The ends in view of edges too long to draw; a span with many says the nearest and how many more. */
function stubs({ graph, lanes, first, last, y }: Place, edges: readonly number[]): Stub[] {
  const ends = new Map<string, { span: number; way: number; others: number[] }>();
  const add = (span: number, way: number, other: number) => {
    if (span < first || span > last) return;
    const key = `${span} ${way}`;
    ends.set(key, { span, way, others: [...(ends.get(key)?.others ?? []), other] });
  };
  for (const edge of edges) {
    add(at(graph.parent, edge), 1, at(graph.child, edge));
    add(at(graph.child, edge), -1, at(graph.parent, edge));
  }
  return [...ends].map(([key, { span, way, others }]) => {
    const [x, top] = [laneX(lanes, span), y(span)];
    const nearest = way > 0 ? Math.min(...others) : Math.max(...others);
    return {
      key,
      path: `M${x} ${top}l6 ${way * 12}`,
      x: x + 7,
      y: top + way * 13 + (way > 0 ? 3 : 0),
      label: `s${nearest}${others.length > 1 ? `+${others.length - 1}` : ""}`,
    };
  });
}
