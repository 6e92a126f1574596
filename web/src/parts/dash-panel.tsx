import type { UseQueryResult } from "@tanstack/react-query";
import { type ReactNode, useId } from "react";
import type { DashboardRun } from "../dashboard";
import { count } from "../pure/format";
import { inline, visible } from "../pure/visible";
import { StaleMark } from "./stale-mark";
import { Trouble } from "./trouble";

interface Props<T> {
  title: string;
  /** What is measured, in one line. */
  about: string;
  answer: UseQueryResult<T, Error>;
  wide?: boolean;
  children: (data: T) => ReactNode;
}

/** One panel: its answer, what is missing for it, or why it cannot be shown; never an empty box. */
export function Panel<T extends { needs: string | null }>({ title, about, answer, wide, children }: Props<T>) {
  const id = useId();
  const { data, error, isPlaceholderData } = answer;
  return (
    <section
      className={`card${wide ? " wide" : ""}${isPlaceholderData ? " busy" : ""}`}
      aria-labelledby={id}
      aria-busy={data === undefined || isPlaceholderData}
    >
      <h2 id={id}>{title}</h2>
      <p className="muted small">{about}</p>
      {error && !data && <Trouble error={error} what={title} />}
      {!error && !data && <p className="loading">Loading…</p>}
      {data?.needs && <Needs what={data.needs} />}
      {data && !data.needs && children(data)}
    </section>
  );
}

export function Needs({ what }: { what: string }) {
  return (
    <p className="needs">
      <strong>Needs</strong> {visible(what)}.
    </p>
  );
}

/** `dag #2`, and whether it is out of date. */
export function RunName({ run }: { run: DashboardRun }) {
  return (
    <>
      <b>{runText(run)}</b>
      <StaleMark run={run} />
    </>
  );
}

export const runText = (run: DashboardRun) => `${inline(run.label)} #${run.number}`;

/** How much of the filter was read, where not all of it was. */
export function Read({ read, matching }: { read: number; matching: number }) {
  if (read === matching) return null;
  return (
    <p className="small alarm">
      over the newest {count(read)} of {count(matching)} trajectories that match
    </p>
  );
}

interface BarProps {
  value: number;
  /** What fills half of the track. */
  full: number;
  low?: number | null;
  high?: number | null;
}

/** A number left or right of zero; a thin line from low to high where they are given. */
export function ZeroBar({ value, full, low, high }: BarProps) {
  const at = (part: number) => (full > 0 ? 50 + 50 * Math.max(-1, Math.min(1, part / full)) : 50);
  const [from, to] = value < 0 ? [at(value), 50] : [50, at(value)];
  return (
    <span className="zerobar" aria-hidden="true">
      {low !== null && low !== undefined && high !== null && high !== undefined && (
        <i className="whisker" style={{ left: `${at(low)}%`, width: `${at(high) - at(low)}%` }} />
      )}
      <i className={value < 0 ? "fill blame" : "fill credit"} style={{ left: `${from}%`, width: `${to - from}%` }} />
    </span>
  );
}

/** A part of a whole, 0 to 1; `mark` is where a thin line crosses it. */
export function ShareBar({ part, mark, tone = "credit" }: { part: number; mark?: number; tone?: "credit" | "blame" }) {
  return (
    <span className="sharebar" aria-hidden="true">
      <i className={`fill ${tone}`} style={{ width: `${100 * part}%` }} />
      {mark !== undefined && <i className="mark-at" style={{ left: `${100 * mark}%` }} />}
    </span>
  );
}
