import { Fragment, useCallback, useEffect, useMemo, useRef, useState } from "react";
import type { EdgeEvidence, Trajectory } from "../api";
import { type ConeNode, coneOf, type Layout, MOST_NODES, outOfView, type Sketch, smooth, startAt } from "../pure/cone";
import { count, number, plural, spoken } from "../pure/format";
import { at, type Graph } from "../pure/graph";
import type { Credit } from "../pure/pool";
import { edgeKey, edgeStanding } from "../pure/rail";
import { inline } from "../pure/visible";
import { tag } from "../pure/words";
import { useEvidence } from "../queries";

interface Props {
  project: string;
  trajectory: Trajectory;
  graph: Graph;
  span: number;
  path: ReadonlySet<string>;
  /** Credits that colour the nodes, and what people call their run. */
  credit: readonly Credit[];
  run: string;
  onSelect: (span: number) => void;
  /** Laying it out took too long, or failed: the rail is to be shown. */
  onGiveUp: (why: string) => void;
}

const NODE = { width: 148, height: 36 };
/** Milliseconds that a layout may take. */
const DEADLINE = 2000;

/** What a span rests on and what rests on it, in layers from left to right. */
export function Cone(props: Props) {
  const { trajectory, graph, span, path, credit, onSelect } = props;
  const cone = useMemo(() => coneOf(graph, span), [graph, span]);
  const layout = useLayout(cone.nodes, graph, cone.edges, props.onGiveUp);
  const [pointed, setPointed] = useState<Pointed>({ span });
  const { scroller, hidden, look } = useScroll(layout, graph, cone.edges, span);
  useEffect(() => setPointed({ span }), [span]);
  const standing = new Map(cone.nodes.map((node) => [node.span, node.standing]));
  return (
    <section className="cone" aria-label={`Cone of s${span}`}>
      <p className="conehead">
        <b>s{span}</b> rests on {plural(cone.above, "span")};{" "}
        {cone.below === 1 ? "1 span rests on it" : `${count(cone.below)} spans rest on it`}
        {cone.left > 0 && `; of all only the ${MOST_NODES} surest are drawn`}
        {cone.leftEdges > 0 && `; ${plural(cone.leftEdges, "lighter edge")} between them left out`}
        {hidden > 0 && <b className="conemore">scroll for {count(hidden)} more</b>}
      </p>
      <div className="conescroll" ref={scroller} onScroll={look}>
        {layout === null ? (
          <p className="muted" role="status">
            Laying out {plural(cone.nodes.length, "span")}…
          </p>
        ) : (
          <div className="conearea" style={{ width: layout.width, height: layout.height }}>
            <svg width={layout.width} height={layout.height} aria-hidden="true">
              {cone.edges.map((edge) => {
                const [parent, child] = [at(graph.parent, edge), at(graph.child, edge)];
                const line = smooth(layout.edges.get(edge) ?? []);
                const is = edgeStanding(standing.get(parent) ?? "apart", standing.get(child) ?? "apart");
                const on = path.has(edgeKey(parent, child)) ? " onpath" : "";
                const near = "edge" in pointed && pointed.edge === edge ? " near" : "";
                const by = graph.kind[edge] === "override" ? " override" : "";
                return (
                  <Fragment key={edge}>
                    <path d={line} className={`edge ${is}${on}${near}${by}`} />
                    {/* wide, so that it can be pointed at; the same is said for each node that has the focus */}
                    <path
                      d={line}
                      className="grab"
                      onPointerEnter={() => setPointed({ edge, parent, child })}
                      onPointerLeave={() => setPointed({ span })}
                    />
                  </Fragment>
                );
              })}
            </svg>
            {cone.nodes.map((node) => (
              <NodeButton
                key={node.span}
                {...{ node, trajectory, onSelect, setPointed }}
                place={layout.nodes.get(node.span) ?? { x: 0, y: 0 }}
                credit={credit[node.span] ?? null}
                run={props.run}
                back={() => setPointed({ span })}
              />
            ))}
          </div>
        )}
      </div>
      <Caption {...props} pointed={pointed} edges={cone.edges} />
    </section>
  );
}

type Pointed = { span: number } | { edge: number; parent: number; child: number };

interface NodeProps {
  node: ConeNode;
  trajectory: Trajectory;
  place: { x: number; y: number };
  credit: Credit;
  run: string;
  onSelect: (span: number) => void;
  setPointed: (pointed: Pointed) => void;
  back: () => void;
}

const STANDING = { self: "selected", ancestor: "rested on", descendant: "rests on it" };

function NodeButton({ node, trajectory, place, credit, run, onSelect, setPointed, back }: NodeProps) {
  const kind = at(trajectory.kind, node.span);
  const name = trajectory.name[node.span];
  const isAction = at(trajectory.is_action, node.span);
  const said = isAction ? `${inline(run)} ${spoken(credit)}` : "observation, no credit by rule";
  const sign = credit === null ? "unscored" : credit < 0 ? "blame" : credit > 0 ? "credit" : "naught";
  return (
    <button
      type="button"
      className={`conenode ${node.standing} ${sign}`}
      style={{ left: place.x - NODE.width / 2, top: place.y - NODE.height / 2, ...NODE }}
      aria-current={node.standing === "self" ? "true" : undefined}
      aria-describedby="cone-caption"
      data-cone={node.span}
      onClick={() => onSelect(node.span)}
      onFocus={() => setPointed({ span: node.span })}
      onPointerEnter={() => setPointed({ span: node.span })}
      onPointerLeave={back}
    >
      <span className="no">s{node.span}</span> <span className="muted">{tag(kind)}</span>
      <span className="figure">{isAction ? number(credit) : ""}</span>{" "}
      <span className="who">{name ? inline(name) : ""}</span>
      <span className="hidden">, {`${STANDING[node.standing]}, ${said}`}</span>
    </button>
  );
}

/** Kind and matched value of the edge that is pointed at, or of every drawn edge of the node that is. */
function Caption({ project, trajectory, graph, pointed, edges }: Props & { pointed: Pointed; edges: number[] }) {
  const asked = "edge" in pointed ? pointed.child : pointed.span;
  const found = useEvidence(project, trajectory.id, asked).data;
  const drawn = new Set(edges.map((edge) => edgeKey(at(graph.parent, edge), at(graph.child, edge))));
  const shown = (list: EdgeEvidence[] | undefined) =>
    (list ?? []).filter((edge) =>
      "edge" in pointed ? edge.parent === pointed.parent : drawn.has(edgeKey(edge.parent, edge.child)),
    );
  const lines = [...shown(found?.fed_by), ...("edge" in pointed ? [] : shown(found?.feeds))];
  return (
    <ul className="caption" id="cone-caption">
      {!found && <li className="muted">…</li>}
      {found && lines.length === 0 && <li className="muted">s{asked}: no edge drawn</li>}
      {lines.slice(0, 4).map((edge) => (
        <li key={edgeKey(edge.parent, edge.child)}>
          s{edge.parent} → s{edge.child} <b>{edge.kind}</b> {number(edge.weight)}: {why(edge)}
        </li>
      ))}
      {lines.length > 4 && <li className="muted">and {plural(lines.length - 4, "more edge")}</li>}
    </ul>
  );
}

function why(edge: EdgeEvidence): string {
  const values = edge.matches.slice(0, 3).map((match) => `“${inline(match.child_text)}”`);
  const more = edge.matches.length > 3 ? ` and ${edge.matches.length - 3} more` : "";
  return values.length > 0 ? values.join(", ") + more : inline(edge.why);
}

/** Nodes and lines as a worker places them; null until it has. */
function useLayout(nodes: ConeNode[], graph: Graph, edges: number[], giveUp: (why: string) => void): Layout | null {
  const [done, setDone] = useState<{ of: ConeNode[]; layout: Layout } | null>(null);
  const tell = useRef(giveUp);
  tell.current = giveUp;
  useEffect(() => {
    const worker = new Worker(new URL("../cone.worker.ts", import.meta.url), { type: "module" });
    const end = (why?: string) => {
      clearTimeout(timer);
      worker.terminate();
      if (why) tell.current(why);
    };
    const timer = setTimeout(() => end(`it took longer than ${DEADLINE / 1000} s`), DEADLINE);
    worker.onmessage = (event: MessageEvent<Layout>) => {
      setDone({ of: nodes, layout: event.data });
      end();
    };
    worker.onerror = () => end("the browser could not do it");
    const sketch: Sketch = {
      nodes: nodes.map(({ span }) => ({ span, ...NODE })),
      edges: edges.map((edge) => ({ edge, parent: at(graph.parent, edge), child: at(graph.child, edge) })),
    };
    worker.postMessage(sketch);
    return () => end();
  }, [nodes, graph, edges]);
  return done?.of === nodes ? done.layout : null;
}

/** Starts with the selected span and its sources in view once they have places, and counts what is not in view. */
function useScroll(layout: Layout | null, graph: Graph, edges: readonly number[], span: number) {
  const scroller = useRef<HTMLDivElement>(null);
  const [hidden, setHidden] = useState(0);
  const look = useCallback(() => {
    const box = scroller.current;
    if (!layout || !box) return setHidden(0);
    const view = { left: box.scrollLeft, top: box.scrollTop, width: box.clientWidth, height: box.clientHeight };
    setHidden(outOfView(layout, NODE, view));
  }, [layout]);
  useEffect(() => {
    const box = scroller.current;
    const place = layout?.nodes.get(span);
    if (place && box) {
      const parents = edges.filter((edge) => graph.child[edge] === span).map((edge) => at(graph.parent, edge));
      const sources = parents.flatMap((parent) => layout?.nodes.get(parent) ?? []);
      const start = startAt(place, sources, NODE, { width: box.clientWidth, height: box.clientHeight });
      box.scrollTo(start.x, start.y);
    }
    look();
  }, [layout, graph, edges, span, look]);
  useEffect(() => {
    const box = scroller.current;
    if (!box) return;
    const watch = new ResizeObserver(look);
    watch.observe(box);
    return () => watch.disconnect();
  }, [look]);
  return { scroller, hidden, look };
}
