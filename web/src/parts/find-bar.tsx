import { type RefObject, useEffect, useRef } from "react";
import { count, plural } from "../pure/format";
import type { Hits } from "../pure/hits";
import { inline } from "../pure/visible";
import { useTyped } from "./typed";

interface Props {
  q: string | null;
  hits: Hits | null;
  /** The hit looked at, counted from 1; 0: none. */
  occ: number;
  busy: boolean;
  error: Error | null;
  box: RefObject<HTMLInputElement | null>;
  onSearch: (q: string | null) => void;
  onGo: (by: 1 | -1) => void;
}

/** Looks through all of the transcript, also what is not loaded: the browser's own search cannot. */
export function FindBar({ q, hits, occ, busy, error, box, onSearch, onGo }: Props) {
  const [typed, setTyped] = useTyped(q ?? "", (text) => onSearch(text || null));
  const waiting = useRef<1 | -1 | null>(null);
  useTakenOver(box);
  useEffect(() => {
    if (waiting.current === null || hits === null || hits.q !== typed.trim()) return;
    onGo(waiting.current);
    waiting.current = null;
  });
  const enter = (by: 1 | -1) => {
    const text = typed.trim();
    if (text !== "" && hits?.q === text) return onGo(by);
    waiting.current = text === "" ? null : by;
    if (text !== (q ?? "")) onSearch(text || null);
  };
  const leave = () => {
    setTyped("");
    onSearch(null);
    box.current?.blur();
    document.querySelector<HTMLElement>(".transcript [data-span][tabindex='0']")?.focus({ preventScroll: true });
  };
  return (
    <search className="find">
      <input
        ref={box}
        type="text"
        aria-label="find in the transcript"
        placeholder="find   /"
        maxLength={200}
        spellCheck={false}
        autoComplete="off"
        value={typed}
        onChange={(event) => setTyped(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter") enter(event.shiftKey ? -1 : 1);
          else if (event.key === "Escape") leave();
          else return;
          event.preventDefault();
        }}
      />
      <span role="status" className={error ? "trouble" : "muted"}>
        {q !== null && said(hits, occ, busy, error)}
      </span>
      {hits && hits.total > 0 && (
        <span className="steps">
          <button type="button" className="quiet" aria-label="previous hit" onClick={() => onGo(-1)}>
            ↑
          </button>
          <button type="button" className="quiet" aria-label="next hit" onClick={() => onGo(1)}>
            ↓
          </button>
        </span>
      )}
    </search>
  );
}

function said(hits: Hits | null, occ: number, busy: boolean, error: Error | null): string {
  if (error) return inline(error.message);
  if (hits === null) return busy ? "looking…" : "";
  if (hits.total === 0) return "no hit";
  const placed = hits.span.length;
  const beyond = placed < hits.total ? `; the first ${count(placed)} can be stepped through` : "";
  if (occ === 0) return `${plural(hits.total, "hit")} in ${plural(hits.spans.length, "span")}${beyond}`;
  return `${count(occ)} of ${count(hits.total)}${beyond}`;
}

/** The browser's key for its own search comes here; a second press, with the box in focus, is the browser's again. */
function useTakenOver(box: RefObject<HTMLInputElement | null>): void {
  useEffect(() => {
    const look = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== "f" || event.shiftKey || event.altKey) return;
      if (event.ctrlKey === event.metaKey || document.activeElement === box.current) return;
      event.preventDefault();
      box.current?.focus();
      box.current?.select();
    };
    addEventListener("keydown", look);
    return () => removeEventListener("keydown", look);
  }, [box]);
}
