import type { Group } from "../api";
import { count, number, plural } from "../pure/format";
import { shortName, shownName } from "../pure/name";
import { listPath, writeList } from "../pure/url";
import { inline, visible } from "../pure/visible";
import { Go } from "./go";

interface Props {
  project: string;
  group: Group;
  onLink: () => void;
}

/** Which group this is, what it was asked, and how it did. */
export function GroupTitle({ project, group, onLink }: Props) {
  const list = writeList({ filters: { group: group.name }, sort: "-created", run: null });
  return (
    <div className="title">
      <h1 title={shownName(group.name)}>{shortName(group.name)}</h1>
      <span>
        <Go to={listPath(project) + list}>{plural(group.size, "rollout")}</Go>
      </span>
      <span title="a reward of at least 0.5 passes">
        pass <b>{count(group.passed)}</b> of {count(group.scored)} scored
      </span>
      <span>
        mean <b>{number(group.mean)}</b>
      </span>
      <span title="standard deviation of a sample: divided by n − 1">
        sd (n−1) <b>{number(group.sd)}</b>
      </span>
      {group.zero_variance && (
        <span className="badge error" title="all rewards are equal: the group's own baseline tells nothing apart">
          zero variance
        </span>
      )}
      <PassAtK values={group.pass_at_k} />
      {group.task !== null && group.task !== group.name && (
        <span title={shownName(group.task)}>task {shortName(group.task, 44)}</span>
      )}
      {group.role !== null && <span>role {inline(group.role)}</span>}
      {group.step !== null && <span>step {count(group.step)}</span>}
      <span className="end">
        <button type="button" onClick={onLink}>
          Copy link
        </button>
      </span>
      {group.prompt !== "" && (
        <p className="prompt" title={inline(group.prompt)}>
          <span className="muted">{group.prompts_differ ? "asked, in other words in some rollouts" : "asked"}</span>{" "}
          {visible(group.prompt)}
        </p>
      )}
    </div>
  );
}

/** k = 1, 2, 4, ... and all of them: unbiased, from the scored rollouts. */
function PassAtK({ values }: { values: number[] }) {
  const shown = values.flatMap((value, i) => {
    const k = i + 1;
    return (k & i) === 0 || k === values.length ? [{ k, value }] : [];
  });
  return shown.map(({ k, value }) => (
    <span key={k} title={`chance that at least one of ${k} passes: 1 − C(n − c, k) / C(n, k)`}>
      pass@{k} <b>{number(value)}</b>
    </span>
  ));
}
