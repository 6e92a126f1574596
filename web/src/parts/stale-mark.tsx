import { inline } from "../pure/visible";

interface Props {
  run: { stale: boolean; stale_reason: string | null };
}

/** Says of a run that it is out of date; what came after it is the title. */
export function StaleMark({ run }: Props) {
  if (!run.stale) return null;
  return (
    <>
      {" "}
      <span className="badge error" title={inline(run.stale_reason ?? "something changed after it")}>
        stale
      </span>
    </>
  );
}
