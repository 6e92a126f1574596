import type { CreditColumns, Trajectory } from "../api";
import { rawPath } from "../api";
import { number, plural, signed, when } from "../pure/format";
import { inline } from "../pure/visible";
import { lawWords } from "../pure/words";
import { Notes } from "./notes";
import { SpanLink } from "./span-link";

interface Props {
  project: string;
  trajectory: Trajectory;
  credits: CreditColumns | undefined;
  /** What people call the run shown. */
  run: string;
  onSelect: (span: number) => void;
}

/** The trajectory as a whole: its outcome against its group, its run, where it came from, what was guessed. */
export function Overview({ project, trajectory, credits, run, onSelect }: Props) {
  return (
    <>
      <header className="panelhead">
        <h2>Trajectory</h2>
      </header>
      <Outcome trajectory={trajectory} onSelect={onSelect} />
      {credits && <RunFacts credits={credits} run={run} onSelect={onSelect} />}
      <section>
        <h3>Where it came from</h3>
        <Facts
          facts={[
            ["id", trajectory.external_id],
            ["group", trajectory.group],
            ["data set", trajectory.dataset],
            ["task", trajectory.task],
            ["role", trajectory.role],
            ["trial", trajectory.trial],
            ["step", trajectory.step],
            ["policy", trajectory.policy_version],
            ["model", trajectory.model],
            ["format", trajectory.format],
            ["file", trajectory.file && `${trajectory.file}${trajectory.line ? `:${trajectory.line}` : ""}`],
            ["ended", ended(trajectory)],
          ]}
        />
        <a href={rawPath(project, trajectory.id)} download>
          Canonical JSON
        </a>
      </section>
      <section>
        <h3>Report</h3>
        {trajectory.report.length === 0 ? (
          <p className="muted">Read without guesses or repairs.</p>
        ) : (
          <Notes notes={trajectory.report} onSelect={onSelect} />
        )}
      </section>
    </>
  );
}

function Outcome({ trajectory, onSelect }: { trajectory: Trajectory; onSelect: (span: number) => void }) {
  const { outcome, group_mean: mean, group_size: size, group_scored: scored } = trajectory;
  return (
    <section>
      <h3>Outcome</h3>
      {outcome === null ? (
        <p>No reward yet, so nothing can be scored. Rewards may arrive later: POST /api/v1/rewards.</p>
      ) : (
        <p>
          <b>{number(outcome)}</b> from the {(trajectory.outcome_source ?? "log").replace("_", " ")}
          {mean !== null && `, against a group mean of ${number(mean)}`} ({scored} of {plural(size, "rollout")} scored)
        </p>
      )}
      <ul className="notes">
        {trajectory.rewards.map((reward, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: rewards are append-only
          <li key={i}>
            {signed(reward.value)} {reward.source.replace("_", " ")} {reward.name && inline(reward.name)}{" "}
            {typeof reward.span === "number" && <SpanLink span={reward.span} onSelect={onSelect} />}{" "}
            <span className="muted">{reward.at && when(reward.at)}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function RunFacts({ credits, run, onSelect }: Pick<Props, "run" | "onSelect"> & { credits: CreditColumns }) {
  return (
    <section>
      <h3>
        Run <span className="muted">{inline(run)}</span>
      </h3>
      <p>
        {credits.credit.every((value) => value === null) && "Nothing of this trajectory is scored by it."}
        {credits.total !== null && (
          <>
            Total <b>{signed(credits.total)}</b>:{" "}
          </>
        )}
        {credits.credit.some((value) => value !== null) && `${lawWords(credits.law)}.`}
      </p>
      {credits.notes.length > 0 && <Notes notes={credits.notes} onSelect={onSelect} />}
    </section>
  );
}

function Facts({ facts }: { facts: [string, string | number | null | undefined][] }) {
  return (
    <dl className="facts">
      {facts.map(([name, value]) =>
        value === null || value === undefined || value === "" ? null : (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{inline(String(value))}</dd>
          </div>
        ),
      )}
    </dl>
  );
}

function ended({ terminated, truncated }: Trajectory): string {
  if (truncated) return "truncated";
  return terminated ? "terminated" : "unknown, counted as terminated";
}
