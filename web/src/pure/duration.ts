/** How long something took, as people say it. */

/** `under 0.1 s`, `0.4 s`, `12 s`, `3 min 20 s`, `2 h 5 min`; null where one of the ends is not known or the clock went back. */
export function duration(from: string | null, to: string | null): string | null {
  if (from === null || to === null) return null;
  const seconds = (Date.parse(to) - Date.parse(from)) / 1000;
  if (!(seconds >= 0)) return null;
  if (seconds < 0.05) return "under 0.1 s";
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return joined(Math.floor(whole / 60), "min", whole % 60, "s");
  const minutes = Math.round(whole / 60);
  return joined(Math.floor(minutes / 60), "h", minutes % 60, "min");
}

function joined(many: number, unit: string, rest: number, small: string): string {
  return rest === 0 ? `${many} ${unit}` : `${many} ${unit} ${rest} ${small}`;
}
