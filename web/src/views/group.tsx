/** One group: its rollouts side by side. */
export function GroupView({ group }: { project: string; group: string }) {
  return <main className="screen">{group}</main>;
}
