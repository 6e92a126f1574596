/** Many credits in few cells: each shows the one of largest size, null where nothing in it is scored. */

import { at } from "./graph";

export type Credit = number | null;

export function pool(values: readonly Credit[], cells: number): Credit[] {
  const count = Math.min(cells, values.length);
  return Array.from({ length: count }, (_, cell) => {
    const [start, end] = range(cell, count, values.length);
    let best: Credit = null;
    for (let i = start; i < end; i++) {
      const value = at(values, i);
      if (value !== null && (best === null || Math.abs(value) > Math.abs(best))) best = value;
    }
    return best;
  });
}

/** The half-open range of positions that a cell stands for. */
export function range(cell: number, cells: number, length: number): [number, number] {
  return [Math.floor((cell * length) / cells), Math.floor(((cell + 1) * length) / cells)];
}
