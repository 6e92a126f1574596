import { useVirtualizer } from "@tanstack/react-virtual";
import { memo, useMemo, useRef } from "react";
import type { Group, GroupMember, TreeCall, TreeNode } from "../api";
import { count, number, plural, signed } from "../pure/format";
import { type Side, tone, value } from "../pure/groups";
import { PLAIN, trajectoryPath, writeView } from "../pure/url";
import { inline } from "../pure/visible";
import { Go } from "./go";

interface Props {
  project: string;
  group: Group;
  /** As the URL names it; links keep it. */
  by: string | null;
  /** What the run is called whose mean credit stands at the calls. */
  run: string | null;
  a: string | null;
  b: string | null;
  onSide: (side: "a" | "b", id: string) => void;
}

const ROW = 30;
const BAR = 84;
const INDENT = 18;
const DEEPEST = 14;
/** Members named in a row; the rest is counted. */
const NAMED = 8;

/** The calls that rollouts share, and where they part: a row a node, its bar as wide as it has rollouts. */
export function CallTree(props: Props) {
  const { group, run } = props;
  const { tree } = group;
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: tree.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW,
    overscan: 6,
  });
  const members = useMemo(() => new Map(group.members.map((one) => [one.number, one])), [group.members]);
  const farthest = useMemo(
    () => Math.max(0, ...tree.map((node) => (node.mean === null ? 0 : Math.abs(node.mean - (group.mean ?? 0))))),
    [tree, group.mean],
  );
  const most = tree[0]?.members.length ?? 1;
  if (tree.length === 0) return null;
  return (
    <section className="calltree" aria-label="Call tree">
      <div className="treehead muted small">
        <h2>Call tree</h2>
        <span>
          rollouts that begin with the same calls share a row; bar: rollouts of {count(most)}, colour: mean reward
          {group.mean !== null && (
            <>
              {" "}
              <Swatch side="below" /> below or <Swatch side="above" /> above the group's {number(group.mean)}
            </>
          )}
          {run !== null && `; in brackets: mean credit by ${inline(run)}`}
        </span>
      </div>
      <div className="rowbox" role="table" aria-label="Calls" aria-rowcount={tree.length}>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolled region needs the keyboard */}
        <div className="scroll" ref={scroller} role="rowgroup" tabIndex={0} aria-label="rows">
          <div className="rows" role="presentation" style={{ height: virtual.getTotalSize() }}>
            {virtual.getVirtualItems().map(({ index, start }) => {
              const node = tree[index];
              return node && <Row key={index} {...{ ...props, node, index, start, members, farthest, most }} />;
            })}
          </div>
        </div>
      </div>
    </section>
  );
}

const WORDS: Record<Side, string> = {
  below: "below",
  above: "above",
  level: "level with",
  unscored: "not scored against",
};

const Swatch = ({ side }: { side: Side }) => (
  <svg className="swatch" width={10} height={10} aria-hidden="true">
    <rect className={side} width={10} height={10} />
  </svg>
);

interface RowProps extends Props {
  node: TreeNode;
  index: number;
  start: number;
  members: ReadonlyMap<number, GroupMember>;
  farthest: number;
  most: number;
}

function Row({ node, index, start, group, members, farthest, most, ...rest }: RowProps) {
  const { side, part } = tone(node.mean, group.mean, farthest);
  const indent = INDENT * Math.min(node.depth, DEEPEST);
  const size = node.members.length;
  return (
    // biome-ignore lint/a11y/useFocusableInteractive: its links are what is operated
    <div
      className={`node ${side}`}
      role="row"
      aria-rowindex={index + 1}
      style={{ transform: `translateY(${start}px)` }}
    >
      <span role="cell" className="calls" style={{ paddingLeft: indent }}>
        {node.depth > 0 && (
          <span className="elbow" aria-hidden="true">
            {node.depth > DEEPEST ? `${node.depth} ` : ""}└
          </span>
        )}
        <span className="hidden">level {node.depth}: </span>
        <Calls node={node} all={index === 0 && !node.leaf} />
      </span>
      <span role="cell" className="share">
        <svg width={BAR} height={14} viewBox={`0 0 ${BAR} 14`} aria-hidden="true">
          <rect className="whole" x={0.5} y={0.5} width={BAR - 1} height={13} />
          <rect
            className={side}
            x={0}
            y={0}
            width={Math.max(2, (BAR * size) / most)}
            height={14}
            fillOpacity={side === "level" || side === "unscored" ? 1 : 0.45 + 0.55 * part}
          />
        </svg>
        <span className="figure">n={count(size)}</span>
      </span>
      <span role="cell" className="figure" title={`mean reward of ${plural(node.scored, "scored rollout")}`}>
        {node.mean === null ? <span className="muted">not scored</span> : <>mean {number(node.mean)}</>}
        {(side === "below" || side === "above") && <span className="hidden"> {WORDS[side]} the group's mean</span>}
      </span>
      <span role="cell" className="members">
        {node.leaf ? (
          <Members {...rest} numbers={node.members} members={members} />
        ) : (
          <span className="muted">parts below</span>
        )}
      </span>
    </div>
  );
}

/** The calls of a node on one line, those arguments first in which siblings differ. */
const Calls = memo(function Calls({ node, all }: { node: TreeNode; all: boolean }) {
  if (node.calls.length === 0) {
    return (
      <span className="muted">{node.depth > 0 ? "ends here" : all ? "they part at the first call" : "no calls"}</span>
    );
  }
  const later = node.calls.find((call, i) => i > 0 && call.splits);
  return (
    <span className="chain" title={node.calls.map(callText).join("  ›  ")}>
      {later && <span className="flag">split at step {later.step}</span>}
      {node.calls.map((call, i) => (
        <Call key={call.step} call={call} gap={i > 0 && call.step !== (node.calls[i - 1]?.step ?? 0) + 1} />
      ))}
      {node.more_calls > 0 && <span className="muted">› {plural(node.more_calls, "more call")}</span>}
    </span>
  );
});

function Call({ call, gap }: { call: TreeCall; gap: boolean }) {
  const differ = call.arguments.filter((one) => one.differs);
  const same = call.arguments.length - differ.length + call.more_arguments;
  return (
    <span className={call.splits ? "call splits" : "call"}>
      {gap && <span className="muted">… › </span>}
      {call.splits && <span className="flag">split</span>}
      <b>{inline(call.tool)}</b>
      {(differ.length > 0 ? differ : call.arguments.slice(0, 2)).map((one) => (
        <span key={one.path} className={one.differs ? "argument differs" : "argument"}>
          {one.path && `${inline(one.path)}=`}
          {inline(short(value(one.value)))}
        </span>
      ))}
      {differ.length > 0 && same > 0 && <span className="muted more">+{same} same</span>}
      {call.credit !== null && <span className="muted more">({signed(call.credit)})</span>}
    </span>
  );
}

/** Characters of a value on the line; the title has more. */
const SHORT = 36;
const short = (text: string) => (text.length > SHORT ? `${text.slice(0, SHORT - 1)}…` : text);

function callText(call: TreeCall): string {
  const given = call.arguments.map((one) => `${one.path && `${inline(one.path)}=`}${inline(value(one.value))}`);
  return `${call.step}. ${inline(call.tool)} ${given.join(" ")}`;
}

interface MembersProps extends Omit<Props, "group"> {
  numbers: number[];
  members: ReadonlyMap<number, GroupMember>;
}

/** The rollouts that end here: each opens its trajectory, or takes a side of the comparison. */
function Members({ project, by, a, b, onSide, numbers, members }: MembersProps) {
  return (
    <>
      {numbers.slice(0, NAMED).map((number) => {
        const one = members.get(number);
        if (!one) return <span key={number}>#{number}</span>;
        return (
          <span key={number} className="member">
            <Go to={trajectoryPath(project, one.id) + writeView({ ...PLAIN, by })} title={inline(one.external_id)}>
              #{number}
            </Go>
            {(["a", "b"] as const).map((side) => (
              <button
                key={side}
                type="button"
                className="side"
                aria-pressed={(side === "a" ? a : b) === one.id}
                aria-label={`compare #${number} as ${side.toUpperCase()}`}
                onClick={() => onSide(side, one.id)}
              >
                {side.toUpperCase()}
              </button>
            ))}
          </span>
        );
      })}
      {numbers.length > NAMED && <span className="muted">and {count(numbers.length - NAMED)} more</span>}
    </>
  );
}
