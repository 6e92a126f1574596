import { memo, type PointerEvent } from "react";
import { ticks } from "../pure/hits";
import { type Credit, pool } from "../pure/pool";
import { filled } from "../pure/scale";

interface Props {
  cells: readonly Credit[];
  /** The credit that fills half the height. */
  full: number;
  label: string;
}

/** Credit of a whole trajectory in a few cells: blame below the line, credit above, the line itself where it is zero, dots where nothing is scored. */
export const Strip = memo(function Strip({ cells, full, label }: Props) {
  const step = cells.length <= 30 ? 8 : 4;
  const wide = step - 1;
  const width = Math.max(step, cells.length * step);
  const paths = { blame: "", credit: "", zero: "", none: "" };
  cells.forEach((value, i) => {
    const x = i * step;
    if (value === null) paths.none += `M${x + (wide >> 1)} 10h1v1h-1z`;
    else if (value === 0) paths.zero += `M${x} 10h${wide}v1h-${wide}z`;
    else {
      const height = Math.max(1, 9 * filled(value, full));
      if (value < 0) paths.blame += `M${x} 10.5h${wide}v${height}h-${wide}z`;
      else paths.credit += `M${x} ${10.5 - height}h${wide}v${height}h-${wide}z`;
    }
  });
  return (
    <svg
      className="strip"
      width={width}
      height={21}
      viewBox={`0 0 ${width} 21`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      <path className="none" d={paths.none} />
      <path className="zero" d={paths.zero} />
      <path className="credit" d={paths.credit} />
      <path className="blame" d={paths.blame} />
    </svg>
  );
});

interface MinimapProps {
  /** How many there are, whether scored or not. */
  spans: number;
  credit: readonly Credit[];
  full: number;
  /** The part of the spans in view, 0..1 from start to end. */
  view: [number, number];
  /** Spans that have hits of what is looked for. */
  found?: readonly number[];
  onJump: (part: number) => void;
}

const CELLS = 240;

/** The whole trajectory beside the scroll bar: bars left for blame, right for credit; click to jump. */
export const Minimap = memo(function Minimap({ spans, credit, full, view, found, onJump }: MinimapProps) {
  const cells = pool(credit, CELLS);
  const count = Math.max(1, Math.min(CELLS, spans));
  const paths = { blame: "", credit: "", ticks: "" };
  for (const i of ticks(found ?? [], count, spans)) paths.ticks += `M9 ${i}h3v1h-3z`;
  cells.forEach((value, i) => {
    if (!value) return;
    const width = Math.max(0.8, 6 * filled(value, full));
    if (value < 0) paths.blame += `M6 ${i}h-${width}v1h${width}z`;
    else paths.credit += `M6 ${i}h${width}v1h-${width}z`;
  });
  const jump = (event: PointerEvent<SVGSVGElement>) => {
    const box = event.currentTarget.getBoundingClientRect();
    if (event.buttons === 1) onJump((event.clientY - box.top) / box.height);
  };
  return (
    <svg
      className="minimap"
      viewBox={`0 0 12 ${count}`}
      preserveAspectRatio="none"
      aria-hidden="true"
      onPointerDown={jump}
      onPointerMove={jump}
    >
      <title>Credit of all spans: click to jump</title>
      <rect
        className="window"
        x={0}
        width={12}
        y={view[0] * count}
        height={Math.max(0.5, (view[1] - view[0]) * count)}
      />
      <path className="blame" d={paths.blame} />
      <path className="credit" d={paths.credit} />
      <path className="ticks" d={paths.ticks} />
    </svg>
  );
});
