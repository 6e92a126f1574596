/** Which run a name in the URL means, and which is shown where it names none. */

export interface RunLike {
  id: string;
  number: number;
  attributor: string;
  label: string;
  state: string;
}

/** The newest finished `dag`, the attributor the command line uses too; else the newest finished of any kind. */
export function defaultRun<R extends RunLike>(runs: readonly R[]): R | null {
  const done = runs.filter((run) => run.state === "done");
  return done.find((run) => run.attributor === "dag") ?? done[0] ?? null;
}

/** By id, or the newest finished of an attributor. */
export function named<R extends RunLike>(runs: readonly R[], name: string | null): R | null {
  if (name === null) return null;
  return (
    runs.find((run) => run.id === name) ?? runs.find((run) => run.attributor === name && run.state === "done") ?? null
  );
}

/** `dag #2`: what people call a run; its label alone while its number is not known. */
export function runName(runs: readonly RunLike[], id: string, label: string): string {
  const run = runs.find((one) => one.id === id);
  return run ? `${run.label} #${run.number}` : label;
}
