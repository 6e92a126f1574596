/** What people say of spans. */
export function LabelsView({ project }: { project: string }) {
  return <main className="screen">{project}</main>;
}
