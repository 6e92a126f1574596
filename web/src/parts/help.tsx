import { useEffect, useRef } from "react";
import { setShortcuts, useShortcuts } from "../preferences";

type Keys = [key: string, what: string][];

const EVERYWHERE: Keys = [
  ["Ctrl K", "go to or do anything, by its name (Cmd K)"],
  ["?", "this sheet"],
];

const LISTS: Keys = [
  ["j  k", "next, previous row"],
  ["Enter", "open it"],
  ["e", "what a trainer will see: the export preview"],
];

const KEYS: Keys = [
  ["j  k", "next, previous span"],
  ["]  [", "next, previous span in order of blame"],
  ["u  i", "to the strongest source, to the strongest use"],
  ["Backspace", "back along that walk"],
  ["b  B", "choose the run; the one beside it"],
  ["d", "one bar: the difference of the two"],
  ["J  K", "next, previous trajectory of the list"],
  ["/  Ctrl F", "find in the transcript, all of it"],
  ["n  N", "next, previous hit"],
  ["f", "fold reasoning and results"],
  ["e", "what a trainer will see of it: the export preview"],
  ["y", "copy a link to this view"],
  ["Esc", "clear the selection"],
];

/** The keys, and the switch that turns them off. */
export function Help({ onClose }: { onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const on = useShortcuts();
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} className="help" onClose={onClose} aria-labelledby="help-title">
      <header className="panelhead">
        <h2 id="help-title">Keys</h2>
        <button type="button" className="quiet" aria-label="close" onClick={onClose}>
          ✕
        </button>
      </header>
      <Sheet title="Everywhere" keys={EVERYWHERE} />
      <Sheet title="Lists" keys={LISTS} />
      <Sheet title="A trajectory" keys={KEYS} />
      <label>
        <input type="checkbox" checked={on} onChange={(event) => setShortcuts(event.target.checked)} /> single-key
        shortcuts on
      </label>
    </dialog>
  );
}

function Sheet({ title, keys }: { title: string; keys: Keys }) {
  return (
    <table>
      <caption>{title}</caption>
      <tbody>
        {keys.map(([key, what]) => (
          <tr key={key}>
            <th scope="row">
              <kbd>{key}</kbd>
            </th>
            <td>{what}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
