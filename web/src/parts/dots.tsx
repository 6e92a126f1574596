import { memo } from "react";
import { count, number } from "../pure/format";
import { dots } from "../pure/groups";

interface Props {
  /** Of some members in order; null where one has none. */
  rewards: readonly (number | null)[];
  /** Members on all. */
  size: number;
  low: number;
  high: number;
}

const WIDTH = 180;
const HEIGHT = 28;
const LEVELS = 4;

/** A dot for every reward, from the lowest on screen at the left to the highest at the right; equal ones are stacked, four high at most. */
export const Dots = memo(function Dots({ rewards, size, low, high }: Props) {
  const given = rewards.filter((reward) => reward !== null);
  const left = size - rewards.length;
  const path = (passed: boolean) =>
    dots(rewards, low, high)
      .filter((dot) => dot.reward >= 0.5 === passed)
      .map(({ at, level }) => circle(4 + at * (WIDTH - 8), HEIGHT - 5 - 6 * Math.min(level, LEVELS - 1)))
      .join("");
  const label = `rewards: ${given.map((reward) => number(reward)).join(", ") || "none"}${left > 0 ? ` and ${count(left)} more` : ""}`;
  return (
    <svg
      className="dots"
      width={WIDTH}
      height={HEIGHT}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      role="img"
      aria-label={label}
    >
      <path className="ground" d={`M0 ${HEIGHT - 0.5}h${WIDTH}`} />
      <path className="failed" d={path(false)} />
      <path className="passed" d={path(true)} />
    </svg>
  );
});

const circle = (x: number, y: number) => `M${x - 2.5} ${y}a2.5 2.5 0 1 0 5 0a2.5 2.5 0 1 0 -5 0z`;
