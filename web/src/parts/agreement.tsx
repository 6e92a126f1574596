import type { CreditColumns, Run } from "../api";
import { number, percent, plural } from "../pure/format";
import { runName } from "../pure/runs";
import { agreement } from "../pure/stats";
import type { Show } from "../pure/url";
import { inline } from "../pure/visible";
import { CulpritFigures } from "./culprit-figures";
import { Figure } from "./figure";

interface Props {
  project: string;
  trajectory: string;
  by: CreditColumns;
  vs: CreditColumns;
  show: Show;
  runs: Run[];
}

/** How far the two runs on screen agree on this trajectory. */
export function AgreementLine({ project, trajectory, by, vs, show, runs }: Props) {
  const found = agreement(by[show], vs[show]);
  const flat = [by, vs]
    .filter((credits) => credits.law === "flat")
    .map(({ run, label }) => inline(runName(runs, run, label)));
  const why = flat.length > 0 ? `${flat.join(" and ")} flat` : "undefined";
  return (
    <dl className="agreement" aria-label="Agreement of the two runs">
      <Figure name="sign agreement" title="part of the action spans with the same sign; zero is a sign of its own">
        {found.sign === null ? "–" : percent(found.sign)}
      </Figure>
      <Figure name="Spearman" title="rank correlation over the action spans, ties at their mean rank">
        {found.spearman === null ? `– (${why})` : number(found.spearman)}
      </Figure>
      <Figure
        name="credit moved"
        title="half the summed difference of the two runs' shares of |credit|, signs kept: 0 % all in place, 100 % all elsewhere"
      >
        {found.moved === null ? "–" : percent(found.moved)}
      </Figure>
      <Figure name="top span" title="whether the span of largest |credit| is the same one">
        {found.top ?? "–"}
      </Figure>
      <Figure name="over" title="spans that both runs score">
        {plural(found.spans, "action span")}
      </Figure>
      <CulpritFigures {...{ project, trajectory, runs }} shown={[by, vs]} />
    </dl>
  );
}
