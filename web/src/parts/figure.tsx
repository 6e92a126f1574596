/** One figure of a line of them; the title says how it is worked out. */
export function Figure({ name, title, children }: { name: string; title: string; children: string }) {
  return (
    <div title={title}>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
