import { useEffect, useRef } from "react";
import { setShortcuts, useShortcuts } from "../preferences";
import { type Section, useScreenKeys } from "../sheet";

const EVERYWHERE: Section = {
  title: "Everywhere",
  keys: [
    ["Ctrl K", "go to or do anything, by its name (Cmd K)"],
    ["?", "this sheet"],
  ],
};

/** Keys of lists, and of the list of trajectories. */
export const ROWS: Section = {
  title: "A list",
  keys: [
    ["j  k", "next, previous row"],
    ["Enter", "open it"],
  ],
};

export const TRAJECTORIES: Section = {
  title: "The list",
  keys: [
    ...ROWS.keys,
    ["g", "its group: the siblings side by side"],
    ["x  c", "select rows, compare the two selected ones"],
    ["e", "what a trainer will see: the export preview"],
    ["Esc", "select none"],
  ],
};

export const TRAJECTORY: Section = {
  title: "The trajectory",
  keys: [
    ["j  k", "next, previous span"],
    ["]  [", "next, previous span in order of blame"],
    ["u  i", "to the strongest source, to the strongest use"],
    ["Backspace", "back along that walk"],
    ["J  K", "next, previous trajectory of the list"],
    ["/  Ctrl F", "find in the transcript, all of it"],
    ["n  N", "next, previous hit"],
    ["b  B", "choose the run; the one beside it"],
    ["d", "one bar: the difference of the two"],
    ["v", "the graph as a rail, or the cone of the selected span in layers"],
    ["f", "fold reasoning and results"],
    ["1 – 4", "label the span: culprit, contributed, innocent, can’t tell"],
    ["m", "a note on it"],
    ["g", "the group of this rollout: its siblings side by side"],
    ["e", "what a trainer will see of it: the export preview"],
    ["y", "copy a link to this view"],
    ["Esc", "clear the selection"],
  ],
};

export const GROUP: Section = {
  title: "The group",
  keys: [
    ["n  N", "next, previous call that differs"],
    ["a  b", "choose the left, the right rollout; Enter comes back"],
    ["y", "copy a link to this view"],
  ],
};

/** The keys there are where one is, and the switch that turns them off. */
export function Help({ onClose }: { onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const on = useShortcuts();
  const screen = useScreenKeys();
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} className="help" onClose={onClose} aria-labelledby="help-title">
      <header className="panelhead">
        <h2 id="help-title">Keys</h2>
        <button type="button" className="quiet" aria-label="close" onClick={onClose}>
          ✕
        </button>
      </header>
      <Sheet {...EVERYWHERE} />
      {screen && <Sheet {...screen} />}
      <label>
        <input type="checkbox" checked={on} onChange={(event) => setShortcuts(event.target.checked)} /> single-key
        shortcuts on
      </label>
    </dialog>
  );
}

function Sheet({ title, keys }: Section) {
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
