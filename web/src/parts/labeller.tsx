import { useId, useState } from "react";
import { setLabeller } from "../preferences";

/** Asks once who labels here; the name stays in this browser and stands beside every label. */
export function AskLabeller({ name = "", onDone }: { name?: string; onDone?: () => void }) {
  const [typed, setTyped] = useState(name);
  const hint = useId();
  return (
    <form
      className="asklabeller"
      onSubmit={(event) => {
        event.preventDefault();
        if (typed.trim() === "") return;
        setLabeller(typed);
        onDone?.();
      }}
    >
      <label>
        your name{" "}
        <input
          // biome-ignore lint/a11y/noAutofocus: it is all there is to do here
          autoFocus
          value={typed}
          maxLength={100}
          aria-describedby={hint}
          onChange={(event) => setTyped(event.target.value)}
        />
      </label>{" "}
      <button type="submit" className="primary" disabled={typed.trim() === ""}>
        Use this name
      </button>
      <p id={hint} className="muted small">
        It stands beside every label, so that what two people say of one span can be compared. This browser keeps it.
      </p>
    </form>
  );
}
