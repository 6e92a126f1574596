/** Runs of a project. */
export function RunsView({ project }: { project: string }) {
  return <main className="screen">{project}</main>;
}
