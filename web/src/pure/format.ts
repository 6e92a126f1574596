/** Numbers and times as they are printed and as they are read aloud. */

const MINUS = "\u2212";

/** Two decimals and a real minus; what would round to nothing keeps one digit, because only zero is "0.00". */
export function number(value: number | null | undefined): string {
  if (value === null || value === undefined) return "–";
  if (value === 0) return "0.00";
  const size = Math.abs(value);
  return (value < 0 ? MINUS : "") + unsigned(size);
}

/** The same with a sign on both sides of zero. */
export function signed(value: number | null | undefined): string {
  return typeof value === "number" && value > 0 ? `+${number(value)}` : number(value);
}

function unsigned(size: number): string {
  if (size >= 1e6) return size.toExponential(1).replace("e+", "e");
  if (size >= 1000) return size.toFixed(0);
  if (size >= 0.005) return size.toFixed(2);
  return size >= 1e-4 ? size.toPrecision(1) : size.toExponential(0);
}

/** For screen readers, who would skip a minus. */
export function spoken(value: number | null | undefined): string {
  if (value === null || value === undefined) return "not scored";
  return (value < 0 ? "minus " : "") + unsignedSpoken(Math.abs(value));
}

function unsignedSpoken(size: number): string {
  return size === 0 ? "zero" : unsigned(size);
}

export function count(value: number): string {
  return value.toLocaleString("en");
}

export function plural(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}

export function percent(part: number): string {
  return `${Math.round(100 * part)} %`;
}

/** Bytes as people say them. */
export function bytes(size: number): string {
  if (size < 1000) return `${size} B`;
  return size < 1e6 ? `${(size / 1e3).toFixed(1)} kB` : `${(size / 1e6).toFixed(1)} MB`;
}

/** Today the time, else the day; the reader's own time zone. */
export function when(iso: string, now: Date = new Date()): string {
  const date = new Date(iso);
  if (Number.isNaN(date.getTime())) return iso;
  const pad = (part: number) => String(part).padStart(2, "0");
  const day = `${date.getFullYear()}-${pad(date.getMonth() + 1)}-${pad(date.getDate())}`;
  const today = `${now.getFullYear()}-${pad(now.getMonth() + 1)}-${pad(now.getDate())}`;
  return day === today ? `${pad(date.getHours())}:${pad(date.getMinutes())}` : day;
}
