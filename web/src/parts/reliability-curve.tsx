import { count, plural } from "../pure/format";
import { type Bin, type Calibration, figure, interval, points, type TrustView } from "../pure/judges";
import { inline } from "../pure/visible";

const SIDE = 220;
const [LEFT, TOP] = [40, 10];
const TICKS = [0, 0.25, 0.5, 0.75, 1];

interface Props {
  title: string;
  of: Calibration | null;
  bins: TrustView["bins"];
  /** Why there is none. */
  why: string | undefined;
}

/** Mean score of each bin against the share that passed; on the dashed diagonal a score is the chance it looks like. */
export function ReliabilityCurve({ title, of, bins, why }: Props) {
  const curve = of && (bins === "count" ? of.equal_count : of.equal_width);
  if (curve === null || curve.bins.length === 0) {
    return (
      <figure className="curve">
        <figcaption>{title}</figcaption>
        <p className="needs">No curve: {inline(why ?? "no score with an outcome")}.</p>
      </figure>
    );
  }
  const drawn = points(curve, SIDE);
  return (
    <figure className="curve">
      <figcaption>
        {title} <span className="muted small">{plural(curve.bins.length, "bin")}</span>
      </figcaption>
      <svg
        viewBox={`0 0 ${SIDE + LEFT + 14} ${SIDE + TOP + 42}`}
        role="img"
        aria-label={`Reliability curve, ${title}: ${drawn.map(({ bin }) => spoken(bin)).join("; ")}`}
      >
        <g transform={`translate(${LEFT} ${TOP})`}>
          <Axes />
          <line className="diagonal" x1={0} y1={SIDE} x2={SIDE} y2={0} />
          <polyline className="joined" points={drawn.map(({ x, y }) => `${x},${y}`).join(" ")} />
          {drawn.map(({ x, y, top, bottom, radius, bin }) => (
            <g key={`${bin.low} ${bin.high}`}>
              {top !== null && bottom !== null && <line className="whisker" x1={x} y1={top} x2={x} y2={bottom} />}
              <circle className="bin" cx={x} cy={y} r={radius} />
            </g>
          ))}
        </g>
      </svg>
      <p className="muted small">
        Bars: 95 % intervals. The larger a dot, the more trajectories. On the dashed line a score is the chance to pass.
      </p>
      <details>
        <summary>the bins as numbers</summary>
        <Bins bins={curve.bins} />
      </details>
    </figure>
  );
}

const spoken = (bin: Bin) =>
  `mean score ${figure(bin.score)}, ${figure(bin.passed.value)} passed of ${plural(bin.n, "trajectory", "trajectories")}`;

function Axes() {
  return (
    <g className="axes">
      <rect x={0} y={0} width={SIDE} height={SIDE} />
      {TICKS.map((tick) => (
        <g key={tick}>
          <text x={SIDE * tick} y={SIDE + 15} textAnchor="middle">
            {tick}
          </text>
          <text x={-6} y={SIDE * (1 - tick) + 4} textAnchor="end">
            {tick}
          </text>
        </g>
      ))}
      <text x={SIDE / 2} y={SIDE + 34} textAnchor="middle">
        mean score, as a chance
      </text>
      <text transform={`translate(-30 ${SIDE / 2}) rotate(-90)`} textAnchor="middle">
        share that passed
      </text>
    </g>
  );
}

function Bins({ bins }: { bins: Bin[] }) {
  return (
    <table className="trustfigures">
      <thead>
        <tr>
          <th scope="col">scores</th>
          <th scope="col">n</th>
          <th scope="col">mean</th>
          <th scope="col">passed</th>
          <th scope="col">95 % interval</th>
        </tr>
      </thead>
      <tbody>
        {bins.map((bin) => (
          <tr key={`${bin.low} ${bin.high}`}>
            <th scope="row">
              {figure(bin.low)} to {figure(bin.high)}
            </th>
            <td className="figure">{count(bin.n)}</td>
            <td className="figure">{figure(bin.score)}</td>
            <td className="figure">{figure(bin.passed.value)}</td>
            <td className="figure">{interval(bin.passed) ?? "–"}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
