import type { CreditColumns, Run } from "../api";
import { useGrades } from "../label-queries";
import { number } from "../pure/format";
import { runName } from "../pure/runs";
import { inline } from "../pure/visible";
import { Figure } from "./figure";

interface Props {
  project: string;
  trajectory: string;
  runs: Run[];
  shown: CreditColumns[];
}

/** Where the labelled culprits of this one trajectory stand in each of the runs; nothing where none is labelled. */
export function CulpritFigures({ project, trajectory, runs, shown }: Props) {
  const found = useGrades(project, "all", trajectory).data;
  const graded = shown.flatMap(({ run, label }) => {
    const grade = found?.runs.find((one) => one.run === run);
    return grade && grade.graded > 0 ? [{ grade, name: inline(runName(runs, run, label)) }] : [];
  });
  return graded.map(({ grade, name }) => (
    <Figure
      key={grade.run}
      name={`${name} on the labelled culprit`}
      title="chance, over the orders of equally blamed choices, that a labelled culprit is the most blamed choice of this trajectory, is among the three most blamed, and 1 / its rank; advantages are ranked"
    >
      {`hit@1 ${number(grade.hit_at_1.value)}, hit@3 ${number(grade.hit_at_3.value)}, 1/rank ${number(grade.mrr.value)}`}
    </Figure>
  ));
}
