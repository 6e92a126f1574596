import { useEffect, useState } from "react";

const WAIT = 250;

/** What stands in a text box; it is handed on once typing pauses. */
export function useTyped(value: string, onChange: (value: string) => void) {
  const [typed, setTyped] = useState(value);
  useEffect(() => setTyped(value), [value]);
  useEffect(() => {
    if (typed.trim() === value) return;
    const timer = setTimeout(() => onChange(typed.trim()), WAIT);
    return () => clearTimeout(timer);
  });
  return [typed, setTyped] as const;
}
