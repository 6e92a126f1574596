import { useEffect, useRef } from "react";
import { setShortcuts, useShortcuts } from "../preferences";

export type Key = [key: string, what: string];

const KEYS: Key[] = [
  ["j  k", "next, previous span"],
  ["]  [", "next, previous span in order of blame"],
  ["u  i", "to the strongest source, to the strongest use"],
  ["Backspace", "back along that walk"],
  ["b  B", "choose the run; the one beside it"],
  ["d", "one bar: the difference of the two"],
  ["v", "the graph as a rail, or the cone of the selected span in layers"],
  ["f", "fold reasoning and results"],
  ["1 – 4", "label the span: culprit, contributed, innocent, can’t tell"],
  ["m", "a note on it"],
  ["e", "what a trainer will see of it: the export preview"],
  ["g", "the group of this rollout: its siblings side by side"],
  ["x  c", "in the list: select rows, compare the two selected ones"],
  ["n  N", "in a group: next, previous difference of the two rollouts"],
  ["a  b", "in a group: choose the left, the right rollout"],
  ["y", "copy a link to this view"],
  ["Esc", "clear the selection"],
  ["?", "this sheet"],
];

/** The keys, and the switch that turns them off. */
export function Help({ onClose, keys = KEYS }: { onClose: () => void; keys?: Key[] }) {
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
      <table>
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
      <label>
        <input type="checkbox" checked={on} onChange={(event) => setShortcuts(event.target.checked)} /> single-key
        shortcuts on
      </label>
    </dialog>
  );
}
