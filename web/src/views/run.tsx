/** One run. */
export function RunView({ id }: { project: string; id: string }) {
  return <main className="screen">{id}</main>;
}
