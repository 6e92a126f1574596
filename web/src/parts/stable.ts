import { useCallback, useEffect, useState } from "react";

/** A function that never changes and calls the newest one. */
export function useStable<A extends unknown[], R>(newest: (...args: A) => R): (...args: A) => R {
  const [box] = useState({ current: newest });
  useEffect(() => {
    box.current = newest;
  });
  return useCallback((...args: A) => box.current(...args), [box]);
}
