import { useQuery, useQueryClient } from "@tanstack/react-query";
import { type KeyboardEvent, useEffect, useId, useRef, useState } from "react";
import { api } from "../api";
import { linkHere } from "../link";
import { go } from "../location";
import { copy, notice } from "../notice";
import { setTheme, THEMES } from "../preferences";
import { plural } from "../pure/format";
import { type Entry, MOST, matching } from "../pure/palette";
import { groupPath, runPath, trajectoryPath } from "../pure/url";
import { inline } from "../pure/visible";
import { useAttributors, useRuns, useSuggestions } from "../queries";
import { SCREENS } from "./topbar";
import "../styles/palette.css";

interface Props {
  project: string;
  onKeys: () => void;
  onClose: () => void;
}

/** Everywhere one can go and everything one can do from anywhere, by typing some of its name. */
export function Palette({ project, onKeys, onClose }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [typed, setTyped] = useState("");
  const [active, setActive] = useState(0);
  const id = useId();
  const entries = useEntries(project, typed.trim(), onKeys);
  const shown = matching(entries, typed);
  const here = Math.min(active, shown.length - 1);
  useEffect(() => dialog.current?.showModal(), []);
  const act = (entry: Entry | undefined) => {
    if (!entry) return;
    dialog.current?.close();
    entry.act();
  };
  const moves: Record<string, () => void> = {
    ArrowDown: () => setActive((here + 1) % Math.max(1, shown.length)),
    ArrowUp: () => setActive((here - 1 + shown.length) % Math.max(1, shown.length)),
    Home: () => setActive(0),
    End: () => setActive(shown.length - 1),
    Enter: () => act(shown[here]),
  };
  const press = (event: KeyboardEvent) => {
    const move = moves[event.key];
    if (!move || event.nativeEvent.isComposing) return;
    event.preventDefault();
    move();
  };
  return (
    <dialog ref={dialog} className="palette" aria-label="Go to or do" onClose={onClose}>
      <input
        role="combobox"
        aria-label="go to or do"
        aria-autocomplete="list"
        aria-expanded={shown.length > 0}
        aria-controls={`${id}-list`}
        aria-activedescendant={here >= 0 ? `${id}-${here}` : undefined}
        placeholder="screen, trajectory, group, run, attributor, colours…"
        autoComplete="off"
        spellCheck={false}
        maxLength={200}
        value={typed}
        onChange={(event) => {
          setTyped(event.target.value);
          setActive(0);
        }}
        onKeyDown={press}
      />
      <div role="listbox" id={`${id}-list`} aria-label="go to or do" className="entries" tabIndex={-1}>
        {shown.map((entry, i) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the box has the focus and its keys do the same
          // biome-ignore lint/a11y/useFocusableInteractive: the box points at it with aria-activedescendant
          <div
            key={entry.key}
            id={`${id}-${i}`}
            role="option"
            aria-selected={i === here}
            ref={i === here ? intoView : undefined}
            onClick={() => act(entry)}
          >
            <span className="muted small section">{entry.section}</span> {inline(entry.label)}{" "}
            {entry.hint && <span className="muted">{inline(entry.hint)}</span>}
          </div>
        ))}
      </div>
      <p role="status" className="muted small">
        {shown.length === 0 ? "Nothing of that name." : "↑ ↓ to choose, Enter to go, Esc to leave"}
      </p>
    </dialog>
  );
}

const intoView = (option: HTMLElement | null) => option?.scrollIntoView({ block: "nearest" });

function useEntries(project: string, text: string, onKeys: () => void): Entry[] {
  const client = useQueryClient();
  const runs = useRuns(project).data ?? [];
  const attributors = useAttributors().data ?? [];
  const trajectories = useSuggestions(project, "trajectories", text, text !== "").data ?? [];
  const groups = useGroupsNamed(project, text);
  const score = async (attributor: string) => {
    try {
      const begun = await api.start(project, { attributor, parameters: {} });
      await client.invalidateQueries({ queryKey: ["runs", project] });
      go(runPath(project, begun.id));
    } catch (error) {
      notice(`${inline(attributor)}: ${inline((error as Error).message)}`);
    }
  };
  const found = text === "" ? [] : trajectories;
  return [
    ...SCREENS.map(([label, to]) => entry("go to", label, () => go(to(project)))),
    ...found.map((name) => entry("trajectory", name, () => go(trajectoryPath(project, `ext:${name}`)))),
    ...groups.map((group) => ({
      ...entry("group", group.name, () => go(groupPath(project, group.id)), plural(group.size, "rollout")),
      key: `group ${group.id}`,
    })),
    ...runs.map((run) =>
      entry("run", `${run.label} #${run.number}`, () => go(runPath(project, run.id)), run.stale ? "stale" : run.state),
    ),
    ...attributors.map((one) => entry("score now", one.name, () => void score(one.name), one.summary)),
    ...THEMES.map((theme) => entry("colours", theme, () => setTheme(theme))),
    entry("this view", "copy link", () => void copy(linkHere(), "Link to this view copied.")),
    entry("this view", "keys and their switch", onKeys),
  ];
}

/** Groups whose name begins so, the largest first. */
function useGroupsNamed(project: string, text: string) {
  const found = useQuery({
    queryKey: ["groups named", project, text],
    queryFn: ({ signal }) => api.groups({ project, text, sort: "-size", limit: MOST }, signal),
    enabled: text !== "",
    placeholderData: (before) => before,
  });
  return text === "" ? [] : (found.data?.items ?? []);
}

function entry(section: string, label: string, act: () => void, hint?: string): Entry {
  return { key: `${section} ${label}`, section, label, act, ...(hint ? { hint } : {}) };
}
