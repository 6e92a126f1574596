import { shownName } from "../pure/name";

/** Characters at the end that are always shown: ids of one file differ there. */
const TAIL = 9;

/** A name that is cut in the middle where there is no room for it. */
export function LongName({ name }: { name: string }) {
  const shown = [...shownName(name)];
  const cut = Math.max(0, shown.length - TAIL);
  return (
    <span className="longname">
      <span>{shown.slice(0, cut).join("")}</span>
      <span>{shown.slice(cut).join("")}</span>
    </span>
  );
}
