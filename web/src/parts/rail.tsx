import { memo } from "react";
import type { Credit } from "../pure/pool";
import type { Drawing, Standing } from "../pure/rail";
import type { Kind } from "../pure/words";

interface Props {
  top: number;
  height: number;
  width: number;
  drawing: Drawing;
  nodes: { span: number; x: number; y: number; extra: number; kind: Kind; credit: Credit; standing: Standing }[];
}

/** The dependency graph beside the transcript: a node a span at its row, edges as lines. The panel says the same in words. */
export const Rail = memo(function Rail({ top, height, width, drawing, nodes }: Props) {
  return (
    <svg
      className="rail"
      width={width}
      height={height}
      viewBox={`0 ${top} ${width} ${height}`}
      style={{ top }}
      aria-hidden="true"
    >
      {drawing.lines.map((line) => (
        <g key={line.edge}>
          {line.onPath && <path d={line.path} className="halo" />}
          <path
            d={line.path}
            className={`edge ${line.standing}${line.candidate ? " candidate" : ""}${line.onPath ? " onpath" : ""}${line.override ? " override" : ""}`}
          />
        </g>
      ))}
      {drawing.edited.map((line) => (
        <g key={`${line.look} ${line.key}`} className={line.look} data-edge={line.key}>
          {line.look === "pending" && <path d={line.path} className="halo" />}
          <path d={line.path} className="edge" />
          {line.look === "removed" && <path d={`M${line.x - 4} ${line.y - 4}l8 8m0 -8l-8 8`} className="cross" />}
        </g>
      ))}
      {drawing.stubs.map((stub) => (
        <g key={stub.key} className="stub">
          <path d={stub.path} />
          <text x={stub.x} y={stub.y}>
            {stub.label}
          </text>
        </g>
      ))}
      {nodes.map((node) => (
        <g key={node.span} className={`node ${node.standing} ${sign(node.credit)}`}>
          <Shape kind={node.kind} x={node.x} y={node.y} />
          {node.extra > 0 && (
            <text x={node.x + 8} y={node.y + 3}>
              +{node.extra}
            </text>
          )}
        </g>
      ))}
    </svg>
  );
});

/** Circle message, diamond reasoning, square call, ring result. */
function Shape({ kind, x, y }: { kind: Kind; x: number; y: number }) {
  if (kind === "tool_call") return <rect x={x - 5} y={y - 5} width={10} height={10} rx={1.5} />;
  if (kind === "reasoning") return <path d={`M${x} ${y - 6}l6 6l-6 6l-6 -6z`} />;
  if (kind === "tool_result") return <circle className="ring" cx={x} cy={y} r={4.5} />;
  return <circle cx={x} cy={y} r={5} />;
}

function sign(credit: Credit): string {
  if (credit === null) return "unscored";
  return credit === 0 ? "naught" : credit < 0 ? "blame" : "credit";
}

const LINES = [
  ["added", "edge added by a person"],
  ["removed", "removed by a person"],
  ["pending", "not saved yet"],
];

/** What the shapes mean; `edited`: the lines of edges that people edited, too. */
export function RailKey({ edited }: { edited: boolean }) {
  const shapes: [Kind, string][] = [
    ["assistant", "message"],
    ["reasoning", "reasoning"],
    ["tool_call", "call"],
    ["tool_result", "result"],
  ];
  return (
    <ul className="railkey">
      {shapes.map(([kind, word]) => (
        <li key={kind}>
          <svg width={14} height={14} viewBox="0 0 14 14" aria-hidden="true" className="rail node plain unscored">
            <Shape kind={kind} x={7} y={7} />
          </svg>
          {word}
        </li>
      ))}
      {edited &&
        LINES.map(([look, word]) => (
          <li key={look}>
            <svg width={18} height={14} viewBox="0 0 18 14" aria-hidden="true" className="rail">
              <g className={look}>
                <path d="M0 7H18" className={look === "added" ? "edge override" : "edge"} />
                {look === "removed" && <path d="M5 3l8 8m0 -8l-8 8" className="cross" />}
              </g>
            </svg>
            {word}
          </li>
        ))}
    </ul>
  );
}
