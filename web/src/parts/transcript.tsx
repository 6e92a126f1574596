import { useVirtualizer, type Virtualizer } from "@tanstack/react-virtual";
import { type ReactNode, type RefObject, useCallback, useEffect, useMemo, useRef } from "react";
import type { Trajectory } from "../api";
import type { Mark } from "../pure/excerpt";
import { number } from "../pure/format";
import { at, edgesInto, edgesOutOf, type Graph } from "../pure/graph";
import { HIT, type Hits } from "../pure/hits";
import type { Lanes } from "../pure/lanes";
import { draw, laneX, type RailEdits, railWidth, standings } from "../pure/rail";
import type { Fold } from "../pure/url";
import { inline } from "../pure/visible";
import { useTexts } from "../queries";
import { Rail } from "./rail";
import { type Column, type SpanHead, SpanRow } from "./span-row";
import { useStable } from "./stable";
import { Minimap } from "./strip";

interface Props {
  project: string;
  trajectory: Trajectory;
  graph: Graph;
  lanes: Lanes;
  columns: Column[];
  full: number;
  exactZero: boolean;
  selected: number | null;
  marks: ReadonlyMap<number, Mark[]>;
  path: ReadonlySet<string>;
  edits: RailEdits;
  /** Whether the graph is drawn beside the rows. */
  rail: boolean;
  fold: Fold[];
  /** What stands over the texts: where one looks for something in them. */
  find?: ReactNode;
  hits?: Hits | null;
  /** The hit looked at, counted from 1; 0: none. */
  occ?: number;
  /** Spans whose tool has what is looked for in its name. */
  named?: ReadonlySet<number>;
  onSelect: (span: number) => void;
}

/** Middle of a row's node, from the top of the row. */
const NODE = 17;
const NO_MARKS: Mark[] = [];

export function Transcript(props: Props) {
  const { trajectory, graph, lanes, columns, selected, onSelect } = props;
  const spans = trajectory.kind.length;
  const scroller = useRef<HTMLDivElement>(null);
  const rows = useVirtualizer({
    count: spans,
    getScrollElement: () => scroller.current,
    estimateSize: (i) => estimate(trajectory, props.fold, i),
    overscan: 6,
    scrollPaddingStart: 60,
    scrollPaddingEnd: 90,
  });
  useFollow(rows, selected, scroller);
  const items = rows.getVirtualItems();
  const [first, last] = [items[0]?.index ?? 0, items.at(-1)?.index ?? 0];
  const texts = useTexts(props.project, trajectory.id, spans, first, last);
  const standing = standings(graph, selected);
  const tabbable = selected !== null && selected >= first && selected <= last ? selected : first;
  const y = (span: number) => (rows.measurementsCache[span]?.start ?? 0) + NODE;
  const [top, bottom] = [items[0]?.start ?? 0, items.at(-1)?.end ?? 0];
  const lead = columns[0]?.values ?? [];
  const width = useMemo(() => (props.rail ? railWidth(lanes, graph) : 0), [lanes, graph, props.rail]);
  const jump = useCallback(
    (part: number) =>
      rows.scrollToIndex(Math.max(0, Math.min(spans - 1, Math.floor(part * spans))), { align: "center" }),
    [rows, spans],
  );
  const { hits = null, occ = 0, named } = props;
  useHitInView(hits, occ, scroller);
  const select = useStable(onSelect);
  const headAt = useHeads(trajectory, graph);
  return (
    <div className="transcript" style={{ "--rail": `${width}px`, "--columns": columns.length } as React.CSSProperties}>
      <Heads columns={columns} full={props.full} rail={props.rail} find={props.find} />
      <div className="scroll" ref={scroller}>
        <div className="rows" style={{ height: rows.getTotalSize() }}>
          {props.rail && (
            <Rail
              top={top}
              height={bottom - top}
              width={width}
              drawing={draw({ graph, lanes, first, last, selected, standing, path: props.path, edits: props.edits, y })}
              nodes={items.map(({ index }) => ({
                span: index,
                x: laneX(lanes, index),
                y: y(index),
                extra: at(lanes.extra, index),
                kind: at(trajectory.kind, index),
                credit: lead[index] ?? null,
                standing: standing(index),
              }))}
            />
          )}
          <div role="list" aria-label="Transcript" className="list" style={{ transform: `translateY(${top}px)` }}>
            {items.map(({ index, key }) => (
              <div key={key} data-index={index} ref={rows.measureElement} role="presentation">
                <SpanRow
                  project={props.project}
                  trajectory={trajectory.id}
                  head={headAt(index)}
                  text={texts.get(index)}
                  columns={columns}
                  full={props.full}
                  exact={props.exactZero && lead[index] === 0}
                  marks={props.marks.get(index) ?? NO_MARKS}
                  named={!named?.has(index) ? "" : nameIsNow(hits, occ, index) ? "hit now" : "hit"}
                  standing={standing(index)}
                  selected={index === selected}
                  folded={isFolded(trajectory, props.fold, index) && index !== selected}
                  tabbable={index === tabbable}
                  onSelect={select}
                />
              </div>
            ))}
          </div>
        </div>
      </div>
      <Minimap
        spans={spans}
        credit={lead}
        full={props.full}
        view={viewOf(rows, spans)}
        found={hits?.spans}
        onJump={jump}
      />
    </div>
  );
}

/** Names of the columns over the rows, with the scale they share. */
interface HeadsProps {
  columns: Column[];
  full: number;
  rail: boolean;
  find: ReactNode;
}

function Heads({ columns, full, rail, find }: HeadsProps) {
  return (
    <div className="heads">
      {rail && <div className="railhead">graph</div>}
      {columns.map((column) => (
        <div key={column.key} className="head">
          <span className="runname" title={inline(column.label)}>
            {inline(column.label)}
          </span>
          {full > 0 && <span className="scale">bars to ±{number(full)}</span>}
        </div>
      ))}
      <div className="head sayhead">
        transcript
        {find}
      </div>
    </div>
  );
}

const FOLD_OF: Partial<Record<string, Fold>> = { reasoning: "think", tool_result: "result" };

function isFolded(trajectory: Trajectory, fold: Fold[], span: number): boolean {
  const one = FOLD_OF[at(trajectory.kind, span)];
  return one !== undefined && fold.includes(one);
}

function estimate(trajectory: Trajectory, fold: Fold[], span: number): number {
  if (isFolded(trajectory, fold, span)) return 35;
  return 37 + 20 * Math.min(6, Math.ceil(at(trajectory.size, span) / 90));
}

/** Heads made once a span, so that rows that did not change are not drawn again. */
function useHeads(trajectory: Trajectory, graph: Graph): (span: number) => SpanHead {
  return useMemo(() => {
    const made: SpanHead[] = [];
    return (span) => {
      const head = made[span] ?? headOf(trajectory, graph, span);
      made[span] = head;
      return head;
    };
  }, [trajectory, graph]);
}

function headOf(trajectory: Trajectory, graph: Graph, span: number): SpanHead {
  const turn = at(trajectory.turn, span);
  return {
    span,
    total: trajectory.kind.length,
    kind: at(trajectory.kind, span),
    name: trajectory.name[span] ?? null,
    agent: trajectory.agent?.[span] ?? null,
    turn,
    newTurn: span > 0 && turn !== trajectory.turn[span - 1],
    isAction: at(trajectory.is_action, span),
    isWrite: at(trajectory.is_write, span),
    writeBasis: at(trajectory.write_basis, span),
    isError: at(trajectory.is_error, span),
    size: at(trajectory.size, span),
    fedBy: edgesInto(graph, span).length,
    feeds: edgesOutOf(graph, span).length,
  };
}

type Rows = Virtualizer<HTMLDivElement, Element>;

/** Milliseconds during which rows that grow, because their text arrives, may not push the selected one out of view. */
const SETTLE = 1500;

/** Keeps the selected row in view and, where the transcript had the focus, focused. */
function useFollow(rows: Rows, selected: number | null, scroller: RefObject<HTMLDivElement | null>): void {
  const until = useRef(0);
  const height = rows.getTotalSize();
  useEffect(() => {
    const release = () => {
      until.current = 0;
    };
    const acts = ["wheel", "pointerdown", "keydown"];
    for (const act of acts) addEventListener(act, release, { passive: true, capture: true });
    return () => {
      for (const act of acts) removeEventListener(act, release, { capture: true });
    };
  }, []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the height says that rows have grown
  useEffect(() => {
    if (selected !== null && performance.now() < until.current) rows.scrollToIndex(selected, { align: "auto" });
  }, [rows, selected, height]);
  useEffect(() => {
    if (selected === null) return;
    until.current = performance.now() + SETTLE;
    rows.scrollToIndex(selected, { align: "auto" });
    if (!scroller.current?.contains(document.activeElement)) return;
    const frame = requestAnimationFrame(() => {
      scroller.current?.querySelector<HTMLElement>(`[data-span="${selected}"]`)?.focus({ preventScroll: true });
    });
    return () => cancelAnimationFrame(frame);
  }, [rows, selected, scroller]);
}

/** The part of the spans in view, whatever the height of their rows: the strip has a cell for as many spans each. */
function viewOf(rows: Rows, spans: number): [number, number] {
  const start = rows.scrollOffset ?? 0;
  const end = start + (rows.scrollRect?.height ?? 0);
  return [placeAt(rows, start) / Math.max(1, spans), Math.min(1, placeAt(rows, end) / Math.max(1, spans))];
}

/** How many spans lie above an offset. */
function placeAt(rows: Rows, offset: number): number {
  const item = rows.getVirtualItemForOffset(offset);
  if (!item) return 0;
  return item.index + Math.max(0, Math.min(1, (offset - item.start) / Math.max(1, item.size)));
}

const nameIsNow = (hits: Hits | null, occ: number, span: number) =>
  hits !== null && hits.span[occ - 1] === span && hits.start[occ - 1] === null;

/** Frames during which the text around a hit may still arrive. */
const PATIENCE = 120;

/** Brings the hit looked at into view, in a row that may be higher than the window. */
function useHitInView(hits: Hits | null, occ: number, scroller: RefObject<HTMLDivElement | null>): void {
  const span = hits?.span[occ - 1];
  useEffect(() => {
    if (span === undefined || occ === 0) return;
    let left = PATIENCE;
    let frame = 0;
    const look = () => {
      const mark = scroller.current?.querySelector(`[data-span="${span}"] :is(.mark.m${HIT}.strong, .name.now)`);
      if (mark) mark.scrollIntoView({ block: "nearest" });
      else if (left-- > 0) frame = requestAnimationFrame(look);
    };
    frame = requestAnimationFrame(look);
    return () => cancelAnimationFrame(frame);
  }, [span, occ, scroller]);
}
