/** Lays a cone out in layers, away from the page: however long it takes, the page goes on. */

import { Graph, layout } from "@dagrejs/dagre";
import type { Layout, Sketch } from "./pure/cone";

addEventListener("message", (event: MessageEvent<Sketch>) => {
  postMessage(layered(event.data));
});

function layered(sketch: Sketch): Layout {
  const graph = new Graph({ multigraph: false });
  graph.setGraph({ rankdir: "LR", nodesep: 10, ranksep: 36, marginx: 10, marginy: 10 });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const { span, width, height } of sketch.nodes) graph.setNode(String(span), { width, height });
  for (const { parent, child } of sketch.edges) graph.setEdge(String(parent), String(child));
  layout(graph);
  const place = (name: string) => graph.node(name) as { x: number; y: number };
  const { width = 0, height = 0 } = graph.graph() as { width?: number; height?: number };
  return {
    width,
    height,
    nodes: new Map(sketch.nodes.map(({ span }) => [span, { x: place(String(span)).x, y: place(String(span)).y }])),
    edges: new Map(
      sketch.edges.map(({ edge, parent, child }) => [
        edge,
        (graph.edge(String(parent), String(child)) as { points: { x: number; y: number }[] }).points,
      ]),
    ),
  };
}
