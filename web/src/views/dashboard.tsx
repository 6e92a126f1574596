/** A project at a glance. */
export function DashboardView({ project }: { project: string }) {
  return <main className="screen">{project}</main>;
}
