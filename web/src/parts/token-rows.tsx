import { useVirtualizer } from "@tanstack/react-virtual";
import { type ReactNode, useMemo, useRef, useState } from "react";
import type { PreviewRow, Trajectory } from "../api";
import { count, number, plural, spoken } from "../pure/format";
import { filled } from "../pure/scale";
import { between, type Line, linesOf, widest } from "../pure/tokens";
import { PLAIN, trajectoryPath, writeView } from "../pure/url";
import { inline } from "../pure/visible";
import { tag } from "../pure/words";
import { CreditCell } from "./credit-cell";
import { Go } from "./go";

interface Props {
  project: string;
  run: string;
  row: PreviewRow;
  /** What the spans are; undefined while it is not known. */
  spans: Trajectory | undefined;
}

/** One window of a row: trained tokens with their advantage and owner, the masked ones folded. */
export function TokenRows({ project, run, row, spans }: Props) {
  const [open, setOpen] = useState<ReadonlySet<number>>(new Set());
  const scroller = useRef<HTMLDivElement>(null);
  const lines = useMemo(() => linesOf(row, row.prompt_tokens, open), [row, open]);
  const full = useMemo(() => widest(row), [row]);
  const virtual = useVirtualizer({
    count: lines.length,
    getScrollElement: () => scroller.current,
    estimateSize: (i) => (lines[i]?.kind === "tokens" ? 84 : 35),
    overscan: 3,
  });
  const items = virtual.getVirtualItems();
  const toggle = (start: number) => {
    const next = new Set(open);
    if (!next.delete(start)) next.add(start);
    setOpen(next);
  };
  const toSpan = (span: number) =>
    trajectoryPath(project, `ext:${row.trajectory}`) + writeView({ ...PLAIN, by: run, span });
  return (
    <div className="tokens">
      <div className="tokenheads">
        <div className="head">span</div>
        <div className="head">
          <span className="runname">advantage</span>
          {full > 0 && <span className="scale">bars to ±{number(full)}, the largest here</span>}
        </div>
        <div className="head">
          tokens {row.texts === null && "(ids: without a tokenizer nobody knows their text)"}
          {row.ids_source === "retokenized" && (
            <span>
              <span className="token trained made">outlined</span> {count(trainedOf(row))} re-tokenised here
            </span>
          )}
        </div>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolled region needs the keyboard */}
      <div className="scroll" ref={scroller} tabIndex={0} role="region" aria-label="Tokens of the row">
        <div className="rows" style={{ height: virtual.getTotalSize() }}>
          <div
            role="list"
            aria-label="Tokens"
            className="list"
            style={{ transform: `translateY(${items[0]?.start ?? 0}px)` }}
          >
            {items.map(({ index, key }) => {
              const line = lines[index];
              return (
                line && (
                  <div
                    key={key}
                    data-index={index}
                    ref={virtual.measureElement}
                    role="listitem"
                    aria-posinset={index + 1}
                    aria-setsize={lines.length}
                  >
                    <TokenLine {...{ line, row, full, spans, toSpan, open }} onToggle={toggle} />
                  </div>
                )
              );
            })}
          </div>
        </div>
      </div>
    </div>
  );
}

const trainedOf = (row: PreviewRow) => row.mask.reduce((sum, one) => sum + (one ? 1 : 0), 0);

interface LineProps {
  line: Line;
  row: PreviewRow;
  full: number;
  spans: Trajectory | undefined;
  open: ReadonlySet<number>;
  toSpan: (span: number) => string;
  onToggle: (start: number) => void;
}

function TokenLine({ line, row, full, spans, open, toSpan, onToggle }: LineProps) {
  if (line.kind === "prompt") {
    return (
      <Parts cell={<Masked />}>
        <button type="button" className="gap" aria-expanded={open.has(PROMPT)} onClick={() => onToggle(PROMPT)}>
          [prompt {count(line.tokens)} masked]
        </button>
        {open.has(PROMPT) && <PromptEnd row={row} />}
      </Parts>
    );
  }
  const { stretch } = line;
  if (line.kind === "folded") {
    const isOpen = open.has(stretch.start);
    const kinds = spans === undefined ? [] : between(spans, line.before, line.after).map((kind) => tag(kind as never));
    return (
      <Parts cell={<Masked />}>
        <button type="button" className="gap" aria-expanded={isOpen} onClick={() => onToggle(stretch.start)}>
          [{[...kinds, count(stretch.end - stretch.start)].join(" ")} masked]
        </button>
      </Parts>
    );
  }
  const { span, advantage, trained } = stretch;
  return (
    <Parts
      owner={
        span !== null && (
          <Go to={toSpan(span)} className="spanlink" title={spans && inline(spans.name[span] ?? "")}>
            s{span}
          </Go>
        )
      }
      cell={trained ? <CreditCell credit={advantage} isAction full={full} /> : <Masked />}
    >
      <span className="muted small">
        {plural(line.end - line.start, "token")}
        <span className="hidden">{trained ? `, advantage ${spoken(advantage)}: ` : ", masked: "}</span>
      </span>
      <Tokens {...{ line, row }} tint={trained ? filled(advantage, full) : 0} />
    </Parts>
  );
}

/** The prompt among the masked stretches that are open, which go by the place of their first token. */
const PROMPT = -1;

/** The last tokens of the prompt: what the first sampled one follows. */
function PromptEnd({ row }: { row: PreviewRow }) {
  const first = row.prompt_tokens - row.prompt_ids.length;
  return (
    <div className="tokentext">
      {first > 0 && <span className="muted small">its last {count(row.prompt_ids.length)}: </span>}
      {row.prompt_ids.map((id, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a token is its place in the prompt
        <span key={i} className="token" title={`prompt token ${first + i}, id ${id}, nobody trains it`}>
          {shown(row.prompt_texts?.[i], id)}
        </span>
      ))}
    </div>
  );
}

const Masked = () => <CreditCell credit={null} isAction={false} full={0} />;

function Parts({ owner, cell, children }: { owner?: ReactNode; cell: ReactNode; children: ReactNode }) {
  return (
    <div className="tokenline">
      <span className="owner">{owner}</span>
      {cell}
      <div className="say">{children}</div>
    </div>
  );
}

/** The most of the colour that leaves the text on it readable in both themes. */
const TINT = 34;

interface TokensProps {
  line: Line & { kind: "tokens" };
  row: PreviewRow;
  /** How strong the colour of the advantage is, 0..1. */
  tint: number;
}

function Tokens({ line, row, tint }: TokensProps) {
  const { trained, span, advantage } = line.stretch;
  const colour = advantage < 0 ? "var(--blame)" : "var(--credit)";
  const style = tint > 0 ? { background: `color-mix(in srgb, ${colour} ${TINT * tint}%, transparent)` } : undefined;
  const made = row.ids_source === "retokenized" ? "token trained made" : "token trained";
  const owner = span === null ? "nobody trains it" : `s${span}, advantage ${number(advantage)}`;
  return (
    <div className="tokentext">
      {row.ids.slice(line.start - row.start, line.end - row.start).map((id, i) => (
        <span
          // biome-ignore lint/suspicious/noArrayIndexKey: a token is its place in the row
          key={i}
          className={trained ? made : "token"}
          style={style}
          title={`token ${line.start + i}, id ${id}, ${owner}`}
        >
          {shown(row.texts?.[line.start - row.start + i], id)}
        </span>
      ))}
    </div>
  );
}

/** What a token reads as, on one line; its id where that is not known, or where its letter is told by the one before. */
function shown(text: string | undefined, id: number | undefined): string {
  return text ? inline(text.replace(/\n/g, "↵").replace(/\t/g, "⇥")) : `#${id}`;
}
