import { type ReactNode, useEffect, useRef } from "react";
import type { Run } from "../api";
import { count, percent, plural, when } from "../pure/format";
import { runName } from "../pure/runs";
import { inline } from "../pure/visible";
import { NEWEST } from "../queries";
import { ScoreNow } from "./score-now";

interface Props {
  project: string;
  runs: Run[];
  /** Accessible name: "by", "beside". */
  name: string;
  shown: string | null;
  /** What the button says where nothing is chosen. */
  empty: string;
  open: boolean;
  onOpen: (open: boolean) => void;
  onChoose: (run: string | null) => void;
  /** An entry that chooses nothing. */
  none?: string;
}

/** The runs of the project, newest first, and a way to score with another attributor now. */
export function RunChooser(props: Props) {
  const { runs, name, shown, open, onOpen } = props;
  const box = useRef<HTMLDivElement>(null);
  const chosen = runs.find((run) => run.id === shown);
  useOutside(box, open, () => onOpen(false));
  return (
    <div className="chooser" ref={box}>
      <button
        type="button"
        className="choose"
        aria-expanded={open}
        aria-haspopup="dialog"
        onClick={() => onOpen(!open)}
      >
        <span className="muted">{name}</span>{" "}
        <b>{chosen ? inline(runName(runs, chosen.id, chosen.label)) : props.empty}</b>{" "}
        {chosen?.stale && (
          <span className="badge error" title={inline(chosen.stale_reason ?? "")}>
            stale
          </span>
        )}{" "}
        ▾
      </button>
      {open && (
        <Popover name={`${name}: choose a run`} onClose={() => onOpen(false)}>
          <Choices {...props} />
          <ScoreNow
            project={props.project}
            onScored={(run) => {
              props.onChoose(run);
              onOpen(false);
            }}
          />
        </Popover>
      )}
    </div>
  );
}

function Choices({ runs, shown, none, onChoose, onOpen }: Props) {
  const choose = (run: string | null) => {
    onChoose(run);
    onOpen(false);
  };
  return (
    <ul className="choices">
      {none !== undefined && (
        <li>
          <button type="button" aria-pressed={shown === null} onClick={() => choose(null)}>
            {none}
          </button>
        </li>
      )}
      {runs.map((run) => (
        <li key={run.id}>
          <button
            type="button"
            aria-pressed={run.id === shown}
            disabled={run.state !== "done"}
            onClick={() => choose(run.id)}
          >
            <b>{inline(runName(runs, run.id, run.label))}</b> <span className="muted">{state(run)}</span>
            {run.error && <span className="trouble">{inline(run.error)}</span>}
          </button>
        </li>
      ))}
      {runs.length >= NEWEST && (
        <li className="muted small">These are the newest {count(NEWEST)}; a link with by=ID opens an older one.</li>
      )}
      {runs.length === 0 && <li className="muted">No run yet: score below.</li>}
    </ul>
  );
}

function state(run: Run): string {
  if (run.state === "done") {
    const read = run.dataset === null ? "" : `, data set ${inline(run.dataset)}`;
    const named = run.reward_name === null ? "" : `, rewards called ${inline(run.reward_name)}`;
    const critic =
      run.critic === null ? "" : `, critic ${inline(run.critic)} (fingerprint ${inline(run.critic_fingerprint ?? "")})`;
    const stale = run.stale ? `, stale: ${inline(run.stale_reason ?? "")}` : "";
    return `${when(run.finished ?? run.created)}, ${plural(run.total, "trajectory", "trajectories")}${read}${named}${critic}${stale}`;
  }
  if (run.state === "running" && run.total > 0) return `running, ${percent(run.done / run.total)}`;
  return run.state;
}

function Popover({ name, onClose, children }: { name: string; onClose: () => void; children: ReactNode }) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const before = document.activeElement;
    const first = box.current?.querySelector<HTMLElement>("[aria-pressed=true], button:not(:disabled)");
    first?.focus();
    return () => {
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  return (
    <div
      className="popover"
      role="dialog"
      aria-label={name}
      ref={box}
      onKeyDown={(event) => {
        if (event.key !== "Escape") return;
        event.stopPropagation();
        onClose();
      }}
    >
      {children}
    </div>
  );
}

function useOutside(box: React.RefObject<HTMLElement | null>, active: boolean, act: () => void): void {
  useEffect(() => {
    if (!active) return;
    const look = (event: PointerEvent) => {
      if (event.target instanceof Node && !box.current?.contains(event.target)) act();
    };
    document.addEventListener("pointerdown", look);
    return () => document.removeEventListener("pointerdown", look);
  });
}
