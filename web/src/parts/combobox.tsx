import { type KeyboardEvent, useId, useState } from "react";
import { shownName } from "../pure/name";
import { type Suggested, useSuggestions } from "../queries";
import { useTyped } from "./typed";

interface Props {
  project: string;
  /** What is suggested. */
  what: Suggested;
  label: string;
  value: string;
  onChange: (value: string) => void;
}

/** A text box that offers the names there are; what is typed counts too, without choosing any. */
export function Combobox({ project, what, label, value, onChange }: Props) {
  const [typed, setTyped] = useTyped(value, onChange);
  const [open, setOpen] = useState(false);
  const [active, setActive] = useState(-1);
  const id = useId();
  const found = useSuggestions(project, what, typed.trim(), open).data ?? [];
  const shown = open && found.length > 0;
  const choose = (name: string) => {
    setTyped(name);
    onChange(name);
    close();
  };
  const close = () => {
    setOpen(false);
    setActive(-1);
  };
  const keys: Record<string, () => void> = {
    ArrowDown: () => (open ? setActive(Math.min(found.length - 1, active + 1)) : setOpen(true)),
    ArrowUp: () => setActive(Math.max(-1, active - 1)),
    Enter: () => choose(found[active] ?? typed.trim()),
    Escape: close,
  };
  const press = (event: KeyboardEvent) => {
    const act = keys[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  };
  return (
    <div className="combobox">
      <label htmlFor={`${id}-box`}>{label}</label>
      <input
        id={`${id}-box`}
        role="combobox"
        autoComplete="off"
        spellCheck={false}
        aria-autocomplete="list"
        aria-expanded={shown}
        aria-controls={shown ? `${id}-list` : undefined}
        aria-activedescendant={shown && active >= 0 ? `${id}-${active}` : undefined}
        value={typed}
        onChange={(event) => {
          setTyped(event.target.value);
          setOpen(true);
          setActive(-1);
        }}
        onClick={() => setOpen(true)}
        onKeyDown={press}
        onBlur={close}
      />
      {shown && (
        <div role="listbox" id={`${id}-list`} aria-label={label} className="options" tabIndex={-1}>
          {found.map((name, i) => (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the box has the focus and its keys do the same
            // biome-ignore lint/a11y/useFocusableInteractive: the box points at it with aria-activedescendant
            <div
              key={name}
              id={`${id}-${i}`}
              role="option"
              aria-selected={i === active}
              ref={i === active ? intoView : undefined}
              onPointerDown={(event) => event.preventDefault()}
              onClick={() => choose(name)}
            >
              {shownName(name)}
            </div>
          ))}
        </div>
      )}
    </div>
  );
}

const intoView = (option: HTMLElement | null) => option?.scrollIntoView({ block: "nearest" });
