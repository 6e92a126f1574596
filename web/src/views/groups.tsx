/** Groups of a project. */
export function GroupsView({ project }: { project: string }) {
  return <main className="screen">{project}</main>;
}
