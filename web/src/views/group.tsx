import { useEffect, useMemo, useRef, useState } from "react";
import type { Alignment, Group, Run } from "../api";
import { useKeys } from "../keys";
import { useLinked } from "../linked";
import type { How } from "../location";
import { copy } from "../notice";
import { CallTree } from "../parts/call-tree";
import { GroupTitle } from "../parts/group-title";
import { GROUP } from "../parts/help";
import { RunChooser } from "../parts/run-chooser";
import { type Handle, SideBySide } from "../parts/side-by-side";
import { SideChooser } from "../parts/side-chooser";
import { Trouble } from "../parts/trouble";
import { chosen, readGroup, type GroupView as View, writeGroup } from "../pure/groups";
import { shortName } from "../pure/name";
import { defaultRun, named, runName } from "../pure/runs";
import { visible } from "../pure/visible";
import { useAlignment, useGroup, useRuns, useRunsWith } from "../queries";
import { useSheet } from "../sheet";
import { Missing } from "./missing";
import "../styles/groups.css";

/** One group: what its rollouts share, where they part, and two of them side by side. */
export function GroupView({ project, group: id }: { project: string; group: string }) {
  const [view, change] = useLinked(readGroup, writeGroup);
  const runs = useRuns(project);
  const by = view.by ?? defaultRun(runs.data ?? [])?.id ?? null;
  const group = useGroup(project, id, by, runs.data !== undefined || runs.error !== null);
  if (group.error && !group.data) return <Missing error={group.error} what={`group ${id}`} />;
  if (!group.data) return <p className="loading">Loading…</p>;
  return <Screen {...{ project, view, change, by }} group={group.data} runs={runs.data ?? []} />;
}

interface Props {
  project: string;
  group: Group;
  runs: Run[];
  by: string | null;
  view: View;
  change: (part: Partial<View>, how?: How) => void;
}

function Screen({ project, group, runs: newest, by, view, change }: Props) {
  const [open, setOpen] = useState(false);
  const runs = useRunsWith(project, newest, [group.run ?? undefined]);
  const members = useMemo(() => new Map(group.members.map((one) => [one.id, one])), [group.members]);
  const [a, b] = chosen(view, group);
  const alignment = useAlignment(project, group.id, a, b, by, a !== null && b !== null);
  const rows = useRef<Handle>(null);
  const choosers = {
    a: useRef<HTMLSelectElement | HTMLInputElement>(null),
    b: useRef<HTMLSelectElement | HTMLInputElement>(null),
  };
  useEffect(() => {
    document.title = `${shortName(group.name)} · trajcredit`;
  }, [group.name]);
  const link = () =>
    copy(
      location.origin + location.pathname + writeGroup({ by: group.run ?? view.by, a, b }),
      "Link to this view copied.",
    );
  useSheet(GROUP);
  useKeys({
    n: () => rows.current?.step(1),
    "Shift+N": () => rows.current?.step(-1),
    a: () => choosers.a.current?.focus(),
    b: () => choosers.b.current?.focus(),
    y: () => void link(),
  });
  const label = group.run === null ? null : runName(runs, group.run, group.label ?? "");
  return (
    <main className="screen groupscreen">
      <GroupTitle {...{ project, group }} onLink={() => void link()} />
      <div className="headlines">
        <p className="headline">{visible(group.sentence)}</p>
        {group.notes.map((note) => (
          <p key={note} className="muted small">
            {visible(note)}
          </p>
        ))}
      </div>
      <CallTree {...{ project, group, by: view.by, a, b }} run={label} onSide={(side, id) => change({ [side]: id })} />
      <div className="toolbar">
        <SideChooser side="A" {...{ group }} shown={a} box={choosers.a} onChoose={(id) => change({ a: id })} />
        <SideChooser side="B" {...{ group }} shown={b} box={choosers.b} onChoose={(id) => change({ b: id })} />
        <button type="button" disabled={a === null || b === null} onClick={() => change({ a: b, b: a })}>
          swap
        </button>
        <RunChooser
          {...{ project, runs, open }}
          name="credit by"
          empty="no run yet"
          shown={named(runs, by)?.id ?? group.run}
          onOpen={setOpen}
          onChoose={(run) => change({ by: run }, "push")}
        />
        <Steps alignment={alignment.data} onStep={(step) => rows.current?.step(step)} />
      </div>
      {(a === null || b === null) && <p className="nomatch">A group of one has no sibling to stand beside.</p>}
      {alignment.error && !alignment.data && <Trouble error={alignment.error} what="the two side by side" />}
      {alignment.data && a !== null && b !== null && (
        <SideBySide
          {...{ project, members }}
          key={`${alignment.data.a.id} ${alignment.data.b.id}`}
          alignment={alignment.data}
          by={view.by}
          run={label}
          handle={rows}
        />
      )}
    </main>
  );
}

/** How many differences there are, and the way from one to the next. */
function Steps({ alignment, onStep }: { alignment: Alignment | undefined; onStep: (step: 1 | -1) => void }) {
  if (!alignment) return null;
  const differ = alignment.rows.filter((row) => row.state !== "same" && (row.a ?? row.b)?.kind === "tool_call").length;
  if (differ === 0) return <span className="end">all calls are the same</span>;
  return (
    <span className="end">
      {differ === 1 ? "1 call differs" : `${differ} calls differ`}
      <button type="button" onClick={() => onStep(-1)} aria-label="previous difference">
        ↑
      </button>
      <button type="button" onClick={() => onStep(1)} aria-label="next difference">
        ↓
      </button>
    </span>
  );
}
