import { type ReactNode, useEffect } from "react";
import { atWork, type Judging, useJudging } from "../api-judges";
import { Go } from "../parts/go";
import { JudgingActions } from "../parts/judging-actions";
import { JudgingState } from "../parts/judging-state";
import { Reliability } from "../parts/reliability";
import { duration } from "../pure/duration";
import { when } from "../pure/format";
import { judgingName, outlay, SCALE_WORDS, unpaid, whole } from "../pure/judges";
import { judgesPath } from "../pure/url";
import { inline, visible } from "../pure/visible";
import { Missing } from "./missing";
import "../styles/judges.css";

/** One judging: how far it is, how far it can be trusted, what was asked and what it took. */
export function JudgingView({ project, id }: { project: string; id: string }) {
  const { data: judging, error } = useJudging(project, id);
  useEffect(() => {
    if (judging) document.title = `${inline(judging.label)} · judging · trajcredit`;
  }, [judging]);
  if (error && !judging) return <Missing error={error} what={`judging ${id}`} />;
  if (!judging) return <p className="loading">Loading…</p>;
  return (
    <main className="page judging">
      <p className="small">
        <Go to={judgesPath(project)}>All judgings</Go>
      </p>
      <div className="judgehead">
        <h1>{inline(judging.label)}</h1>
        <span role="status">
          <JudgingState judging={judging} />
        </span>
        <span className="end">
          <JudgingActions {...{ project, judging }} name={judgingName(judging, when(judging.created))} />
        </span>
      </div>
      {judging.error && (
        <p className="trouble" role="alert">
          {visible(judging.error)}
        </p>
      )}
      <section aria-label="Reliability">
        <h2>How far it can be trusted</h2>
        <Trusted {...{ project, judging }} />
      </section>
      <Asked judging={judging} />
    </main>
  );
}

function Trusted({ project, judging }: { project: string; judging: Judging }) {
  if (atWork(judging)) return <p className="muted">Reliability is told once the judging ends.</p>;
  if (judging.judged === 0) {
    return (
      <p className="needs">
        Nothing was judged, so nothing can be told. It takes judged trajectories with outcomes, of ten tasks at least
        for intervals.
      </p>
    );
  }
  return <Reliability {...{ project, judging }} />;
}

/** What was asked, of whom, and what it took. */
function Asked({ judging }: { judging: Judging }) {
  const took = duration(judging.started, judging.finished);
  const given = Object.entries(judging.parameters).filter(([, value]) => value !== null);
  const facts: [string, ReactNode][] = [
    ["judge", inline(judging.judge)],
    ["scale", SCALE_WORDS[judging.scale]],
    ["judged as one", inline(judging.segments)],
    ["trajectories", inline(whole(judging))],
    ["model", judging.model === null ? "none" : inline(judging.model)],
    ...(judging.prompt_version === null ? [] : [["prompt", inline(judging.prompt_version)] as [string, ReactNode]]),
    ...given.map(([name, value]): [string, ReactNode] => [inline(name), inline(String(value))]),
    ["took", `${outlay(judging) ?? unpaid(judging)}${took === null ? "" : `; ${took}`}`],
    ["created", when(judging.created)],
    ["code", inline(judging.code_version)],
    ["fingerprint", inline(judging.fingerprint ?? "not known before it begins")],
    ["id", <code key="id">{judging.id}</code>],
  ];
  return (
    <section>
      <h2>Asked for</h2>
      <dl className="facts">
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
