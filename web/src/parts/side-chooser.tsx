import type { KeyboardEvent, RefObject } from "react";
import type { Group, GroupMember } from "../api";
import { number } from "../pure/format";
import { shortName } from "../pure/name";

/** Rollouts up to which all are offered by name; of more, one is named by its number. */
const MOST = 100;

interface Props {
  side: "A" | "B";
  group: Group;
  shown: string | null;
  box: RefObject<HTMLSelectElement | HTMLInputElement | null>;
  onChoose: (id: string) => void;
}

/** Which rollout stands on one side. */
export function SideChooser({ side, group, shown, box, onChoose }: Props) {
  const { members } = group;
  if (members.length > MOST) {
    const here = members.find((one) => one.id === shown);
    return (
      <label>
        {side} #{" "}
        <input
          ref={box as RefObject<HTMLInputElement | null>}
          className="number"
          type="number"
          min={1}
          max={members.length}
          defaultValue={here?.number}
          onKeyDown={leave}
          key={shown}
          onChange={(event) => {
            const one = members[Number(event.target.value) - 1];
            if (one) onChoose(one.id);
          }}
        />
      </label>
    );
  }
  return (
    <label>
      {side}{" "}
      <select
        ref={box as RefObject<HTMLSelectElement | null>}
        onKeyDown={leave}
        value={shown ?? ""}
        onChange={(event) => onChoose(event.target.value)}
      >
        {shown === null && <option value="">none</option>}
        {members.map((one) => (
          <option key={one.id} value={one.id}>
            {memberName(one)}
          </option>
        ))}
      </select>
    </label>
  );
}

/** Enter and Escape go back to the keys of the screen. */
function leave(event: KeyboardEvent<HTMLElement>): void {
  if (event.key === "Enter" || event.key === "Escape") event.currentTarget.blur();
}

/** "#2 flight-2, reward 1.00"; a long id without its middle. */
export function memberName(one: Pick<GroupMember, "number" | "external_id" | "reward">): string {
  const reward = one.reward === null ? "no reward" : `reward ${number(one.reward)}`;
  return `#${one.number} ${shortName(one.external_id)}, ${reward}`;
}
