import { useVirtualizer } from "@tanstack/react-virtual";
import { type Ref, useImperativeHandle, useLayoutEffect, useMemo, useRef, useState } from "react";
import type { AlignedCell, AlignedRow, Alignment, GroupMember } from "../api";
import { count, number, plural } from "../pure/format";
import { value } from "../pure/groups";
import { shownName } from "../pure/name";
import { PLAIN, trajectoryPath, writeView } from "../pure/url";
import { inline, visible } from "../pure/visible";
import { type Word, wordDiff } from "../pure/word-diff";
import { tag } from "../pure/words";
import { CreditCell } from "./credit-cell";
import { Go } from "./go";
import { memberName } from "./side-chooser";

/** What keys do to the rows. */
export interface Handle {
  /** To the next or previous call that differs. */
  step: (by: 1 | -1) => void;
}

interface Props {
  project: string;
  alignment: Alignment;
  members: ReadonlyMap<string, GroupMember>;
  by: string | null;
  run: string | null;
  handle: Ref<Handle>;
}

/** Two rollouts, row beside row: one list, so that both sides scroll together. */
export function SideBySide({ project, alignment, by, run, handle }: Props) {
  const { rows, first, scale } = alignment;
  const scroller = useRef<HTMLDivElement>(null);
  const [here, setHere] = useState<number | null>(null);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => 74,
    overscan: 5,
  });
  const different = useMemo(() => rows.flatMap((row, i) => (row.state !== "same" && isCall(row) ? [i] : [])), [rows]);
  useImperativeHandle(handle, () => ({
    step: (by) => {
      const next = by > 0 ? different.find((i) => i > (here ?? -1)) : different.findLast((i) => i < (here ?? 0));
      if (next === undefined) return;
      setHere(next);
      virtual.scrollToIndex(next, { align: "center" });
    },
  }));
  useLayoutEffect(() => {
    if (first !== null && first > 3) virtual.scrollToIndex(first, { align: "center" });
  }, [first, virtual]);
  const items = virtual.getVirtualItems();
  const path = (id: string) => (span: number | null) => trajectoryPath(project, id) + writeView({ ...PLAIN, span, by });
  return (
    <section className="sidebyside" aria-label="Side by side">
      <div className="sidehead">
        <span />
        <SideHead name="A" side={alignment.a} to={path(alignment.a.id)(null)} {...{ run, scale }} />
        <SideHead name="B" side={alignment.b} to={path(alignment.b.id)(null)} {...{ run, scale }} />
      </div>
      {alignment.notes.map((note) => (
        <p key={note} className="muted small sidenote">
          {visible(note)}
        </p>
      ))}
      <div className="rowbox" role="table" aria-label="Rows of A and B" aria-rowcount={rows.length}>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolled region needs the keyboard */}
        <div className="scroll" ref={scroller} role="rowgroup" tabIndex={0} aria-label="rows">
          <div className="rows" role="presentation" style={{ height: virtual.getTotalSize() }}>
            {items.map(({ index, start }) => {
              const row = rows[index];
              return (
                row && (
                  <div
                    key={index}
                    data-index={index}
                    ref={virtual.measureElement}
                    role="presentation"
                    className="place"
                    style={{ transform: `translateY(${start}px)` }}
                  >
                    {index === first && <p className="diverges">diverges here</p>}
                    <Row
                      {...{ row, index, scale }}
                      current={index === here}
                      toA={path(alignment.a.id)}
                      toB={path(alignment.b.id)}
                    />
                  </div>
                )
              );
            })}
          </div>
        </div>
      </div>
    </section>
  );
}

interface HeadProps {
  name: "A" | "B";
  side: Alignment["a"];
  to: string;
  run: string | null;
  scale: number;
}

function SideHead({ name, side, to, run, scale }: HeadProps) {
  return (
    <span className="who">
      <b>{name}</b>{" "}
      <Go to={to} title={shownName(side.external_id)}>
        {memberName(side)}
      </Go>
      <span className="muted small end">
        {run === null ? "no run" : `credit by ${inline(run)}${scale > 0 ? `, bars to ±${number(scale)}` : ""}`}
      </span>
    </span>
  );
}

const SIGNS = { same: "=", differs: "~", a: "−", b: "+" } as const;
const SPOKEN = { same: "the same", differs: "differs", a: "only in A", b: "only in B" } as const;

interface RowProps {
  row: AlignedRow;
  index: number;
  scale: number;
  current: boolean;
  toA: (span: number) => string;
  toB: (span: number) => string;
}

function Row({ row, index, scale, current, toA, toB }: RowProps) {
  const results = row.a && row.b && row.a.result !== row.b.result && row.state === "same";
  return (
    // biome-ignore lint/a11y/useFocusableInteractive: its links are what is operated
    <div
      className={`pair ${row.state}${isCall(row) ? "" : " message"}${current ? " current" : ""}`}
      role="row"
      aria-rowindex={index + 1}
      aria-current={current ? "true" : undefined}
    >
      <span role="cell" className="sign" title={SPOKEN[row.state]}>
        <span aria-hidden="true">{SIGNS[row.state]}</span>
        <span className="hidden">{SPOKEN[row.state]}</span>
      </span>
      {row.a ? <Half {...{ row, scale, to: toA }} cell={row.a} side="a" other={!!results} /> : <Nothing />}
      {row.b ? <Half {...{ row, scale, to: toB }} cell={row.b} side="b" other={!!results} /> : <Nothing />}
    </div>
  );
}

function Nothing() {
  return (
    <span role="cell" className="half nothing">
      <span className="hidden">nothing</span>
    </span>
  );
}

interface HalfProps {
  row: AlignedRow;
  cell: AlignedCell;
  side: "a" | "b";
  scale: number;
  to: (span: number) => string;
  /** Whether the same call had another result on the other side. */
  other: boolean;
}

function Half({ row, cell, side, scale, to, other }: HalfProps) {
  return (
    <div role="cell" className="half">
      <div className="said">
        <p>
          <Go to={to(cell.span)} title={`span ${cell.span} of the trajectory`}>
            {cell.step === null ? `s${cell.span}` : `step ${cell.step}`}
          </Go>{" "}
          {cell.kind === "tool_call" ? (
            <b>{inline(cell.name ?? "")}</b>
          ) : (
            <span className="muted">{tag(cell.kind)}</span>
          )}
          {cell.is_error && <span className="badge error">failed</span>}
          {other && <span className="badge">other result</span>}
          {cell.folded > 0 && <span className="muted small"> after {plural(cell.folded, "folded block")}</span>}
        </p>
        {cell.kind === "tool_call" ? (
          <Arguments {...{ row, cell, side }} />
        ) : (
          <p className="text">{visible(cell.text)}</p>
        )}
        {cell.result !== null && (
          <p className="result muted" title={`${count(cell.result_size)} characters`}>
            → {cell.result === "" ? "(empty)" : visible(cell.result)}
          </p>
        )}
      </div>
      <CreditCell credit={cell.credit} isAction={cell.kind !== "user" && cell.kind !== "system"} full={scale} />
    </div>
  );
}

/** Arguments that differ a line each with their own words marked, then the rest. */
function Arguments({ row, cell, side }: { row: AlignedRow; cell: AlignedCell; side: "a" | "b" }) {
  const differing = new Set(row.differences.map((one) => one.path));
  const same = cell.arguments.filter(({ path }) => !differing.has(path));
  return (
    <>
      {row.differences.map((one) => {
        const [a, b] = wordDiff(one.a === null ? "" : value(one.a), one.b === null ? "" : value(one.b));
        const own = side === "a" ? one.a : one.b;
        return (
          <p key={one.path} className="argument differs">
            {one.path && <span className="path">{inline(one.path)}: </span>}
            {own === null ? (
              <span className="muted">not given</span>
            ) : (
              <Words words={side === "a" ? a : b} side={side} />
            )}
          </p>
        );
      })}
      {same.length > 0 && (
        <p className="argument">
          {same.map(({ path, value: json }) => (
            <span key={path}>
              {path && <span className="path">{inline(path)}: </span>}
              {visible(value(json))}{" "}
            </span>
          ))}
        </p>
      )}
    </>
  );
}

/** Words that only this side has, in brackets and coloured: [-PRX-] of A, [+PAR+] of B. */
function Words({ words, side }: { words: Word[]; side: "a" | "b" }) {
  const [mark, Tag] = side === "a" ? (["-", "del"] as const) : (["+", "ins"] as const);
  return words.map((word, i) =>
    word.own ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: pieces of one text have no other name
      <Tag key={i}>
        [{mark}
        {visible(word.text)}
        {mark}]
      </Tag>
    ) : (
      visible(word.text)
    ),
  );
}

const isCall = (row: AlignedRow) => (row.a ?? row.b)?.kind === "tool_call";
