import { memo } from "react";
import { number } from "../pure/format";
import type { Credit } from "../pure/pool";
import { filled, overflows } from "../pure/scale";

interface Props {
  credit: Credit;
  isAction: boolean;
  /** The credit that fills half the cell. */
  full: number;
}

/** One span's credit in one run: a bar from the zero line and the number; a hatch where the policy wrote nothing. */
export const CreditCell = memo(function CreditCell({ credit, isAction, full }: Props) {
  if (!isAction) return <span className="cell hatch" title="an observation: never trained, no credit by rule" />;
  if (credit === null) {
    return (
      <span className="cell" title="not scored">
        <span className="axis none" />
        <span className="figure muted">–</span>
      </span>
    );
  }
  const width = `${50 * filled(credit, full)}%`;
  const side = credit < 0 ? "bar blame" : "bar credit";
  return (
    <span className="cell">
      <span className="axis">
        {credit === 0 ? <span className="zero" /> : <span className={side} style={{ width }} />}
        {overflows(credit, full) && <span className={credit < 0 ? "over left" : "over right"} />}
      </span>
      <span className={credit === 0 ? "figure exact" : "figure"}>{number(credit)}</span>
    </span>
  );
});
