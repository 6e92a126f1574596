import { memo } from "react";
import type { SpanText } from "../api";
import type { Mark } from "../pure/excerpt";
import { count, spoken } from "../pure/format";
import type { Credit } from "../pure/pool";
import type { Standing } from "../pure/rail";
import { inline } from "../pure/visible";
import { basisWords, type Kind, spokenKind, tag } from "../pure/words";
import { CreditCell } from "./credit-cell";
import { SpanBody } from "./span-text";

/** What a row says about its span besides the text. */
export interface SpanHead {
  span: number;
  total: number;
  kind: Kind;
  name: string | null;
  agent: string | null;
  turn: number;
  newTurn: boolean;
  isAction: boolean;
  isWrite: boolean;
  writeBasis: string;
  isError: boolean;
  size: number;
  fedBy: number;
  feeds: number;
}

export interface Column {
  key: string;
  label: string;
  values: readonly Credit[];
}

interface Props {
  project: string;
  trajectory: string;
  head: SpanHead;
  text: SpanText | undefined;
  columns: readonly Column[];
  full: number;
  /** Marks exactly-zero spans of a run whose law is a mask. */
  exact: boolean;
  marks: readonly Mark[];
  /** "hit" where the name has what is looked for, "hit now" where that is the hit looked at. */
  named: string;
  standing: Standing;
  selected: boolean;
  folded: boolean;
  tabbable: boolean;
  onSelect: (span: number) => void;
}

/** One span: its credits, what it is, what it says. */
export const SpanRow = memo(function SpanRow(props: Props) {
  const { head, columns, selected, standing, onSelect } = props;
  const state = `span k-${head.kind} ${standing}${selected ? " selected" : ""}${head.newTurn ? " newturn" : ""}`;
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the transcript's keys do what a click does (j, k, Enter)
    <div
      className={state}
      role="listitem"
      tabIndex={props.tabbable ? 0 : -1}
      data-span={head.span}
      aria-posinset={head.span + 1}
      aria-setsize={head.total}
      aria-current={selected ? "true" : undefined}
      aria-label={aloud(head, columns)}
      onClick={() => onSelect(head.span)}
    >
      {columns.map((column) => (
        <CreditCell
          key={column.key}
          credit={column.values[head.span] ?? null}
          isAction={head.isAction}
          full={props.full}
        />
      ))}
      <div className="say">
        <div className="line">
          <span className="no">s{head.span}</span>
          <span className={`tag ${head.kind}`}>{tag(head.kind)}</span>
          {head.name && <span className={`name ${props.named}`.trim()}>{inline(head.name)}</span>}
          {head.agent && <span className="muted">{inline(head.agent)}</span>}
          {props.folded && <Folded text={props.text} />}
          <Badges head={head} exact={props.exact} />
        </div>
        {!props.folded && <Text {...props} />}
      </div>
    </div>
  );
});

function Text({ text, head, project, trajectory, marks, selected }: Props) {
  if (text === undefined) return <div className="body muted">{head.size === 0 ? "" : "…"}</div>;
  if (text.size === 0) return <div className="body muted">(empty)</div>;
  return <SpanBody project={project} trajectory={trajectory} text={text} marks={marks} open={selected} />;
}

function Folded({ text }: { text: SpanText | undefined }) {
  return <span className="folded muted">{inline((text?.head ?? "").slice(0, 160))}</span>;
}

function Badges({ head, exact }: { head: SpanHead; exact: boolean }) {
  return (
    <span className="badges">
      {head.isError && <span className="badge error">failed</span>}
      {head.isWrite && (
        <span className="badge" title={basisWords(head.writeBasis)}>
          changes state
        </span>
      )}
      {exact && <span className="badge exact">exactly 0</span>}
      {!head.isAction && head.size > 2000 && <span className="muted small">{count(head.size)} characters</span>}
    </span>
  );
}

/** "span 3 of 14, tool call search_flights, dag minus 0.36, fed by 2, feeds 2". */
function aloud(head: SpanHead, columns: readonly Column[]): string {
  const credits = head.isAction
    ? columns.map((column) => `${inline(column.label)} ${spoken(column.values[head.span])}`)
    : ["observation, no credit by rule"];
  return [
    `span ${head.span + 1} of ${head.total}`,
    spokenKind(head.kind, head.name),
    ...credits,
    `fed by ${head.fedBy}`,
    `feeds ${head.feeds}`,
  ].join(", ");
}
