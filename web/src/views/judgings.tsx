import { useState } from "react";
import { useSearch } from "wouter/use-browser-location";
import { type Judging, useJudgings } from "../api-judges";
import { useKeys } from "../keys";
import { go } from "../location";
import { Go } from "../parts/go";
import { ROWS } from "../parts/help";
import { JudgingActions } from "../parts/judging-actions";
import { JudgingStart } from "../parts/judging-start";
import { JudgingState } from "../parts/judging-state";
import { Trouble } from "../parts/trouble";
import { plural, when } from "../pure/format";
import { judgingName, outlay, readCursor, unpaid, whole, writeCursor } from "../pure/judges";
import { judgesPath, judgingPath, listPath } from "../pure/url";
import { inline } from "../pure/visible";
import { useSheet } from "../sheet";
import "../styles/judges.css";

/** Judgings of a project, newest first: who was asked, how far it is, what it took; and who can be asked. */
export function JudgingsView({ project }: { project: string }) {
  const cursor = readCursor(useSearch());
  const page = useJudgings(project, cursor);
  const [asking, setAsking] = useState(false);
  useSheet(ROWS);
  useKeys({ j: () => moveFocus(1), k: () => moveFocus(-1) });
  if (page.error && !page.data) return <Trouble error={page.error} what="the judgings" />;
  if (!page.data) return <p className="loading">Loading…</p>;
  const { items, next } = page.data;
  return (
    <main className="judgings">
      <h1 className="hidden">Judges</h1>
      <div className="toolbar">
        <button type="button" className="primary" aria-expanded={asking} onClick={() => setAsking(!asking)}>
          New judging
        </button>
        <span className="muted">
          A judge gives an opinion on spans from their text: it sees no outcome, no sibling.
        </span>
        <span className="end" role="status">
          {plural(items.length, "judging")}
          {(next || cursor) && " on this page"}
        </span>
      </div>
      {asking && (
        <div className="newjudging">
          <JudgingStart {...{ project }} onStarted={(begun) => go(judgingPath(project, begun.id))} />
        </div>
      )}
      {items.length === 0 ? <NoJudging {...{ project }} /> : <Table {...{ project, items }} />}
      {(next || cursor) && (
        <nav className="pages" aria-label="Pages">
          {cursor && <Go to={judgesPath(project)}>Newest</Go>}
          {next && <Go to={judgesPath(project) + writeCursor(next)}>Older</Go>}
        </nav>
      )}
    </main>
  );
}

function NoJudging({ project }: { project: string }) {
  return (
    <p className="nomatch">
      No judge was asked yet. “New judging” asks one about the <Go to={listPath(project)}>trajectories</Go>.
    </p>
  );
}

function moveFocus(by: 1 | -1): void {
  const links = [...document.querySelectorAll<HTMLElement>(".judgetable .judgename")];
  const here = links.indexOf(document.activeElement as HTMLElement);
  links[Math.max(0, Math.min(links.length - 1, here + by))]?.focus();
}

function Table({ project, items }: { project: string; items: Judging[] }) {
  return (
    <table className="judgetable" aria-label="Judgings">
      <thead>
        <tr>
          <th scope="col">judging</th>
          <th scope="col">state</th>
          <th scope="col">scale</th>
          <th scope="col">model</th>
          <th scope="col">took</th>
          <th scope="col">created</th>
          <th scope="col">
            <span className="hidden">what can be done</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {items.map((judging) => (
          <Row key={judging.id} {...{ project, judging }} />
        ))}
      </tbody>
    </table>
  );
}

function Row({ project, judging }: { project: string; judging: Judging }) {
  const created = when(judging.created);
  return (
    <tr>
      <th scope="row">
        <Go className="judgename" to={judgingPath(project, judging.id)}>
          {inline(judging.label)}
        </Go>
        <span className="muted small">{inline(whole(judging))}</span>
        {judging.error && <span className="trouble small">{inline(judging.error)}</span>}
      </th>
      <td>
        <JudgingState judging={judging} />
      </td>
      <td>
        {judging.scale}{" "}
        <span className="muted small">
          {judging.scale === "state" ? "0 to 1" : "−1 to 1"}; {inline(judging.segments)}
        </span>
      </td>
      <td className="model">{judging.model === null ? <span className="muted">none</span> : inline(judging.model)}</td>
      <td className="small">{outlay(judging) ?? <span className="muted">{unpaid(judging)}</span>}</td>
      <td className="muted">{created}</td>
      <td>
        <JudgingActions {...{ project, judging }} name={judgingName(judging, created)} />
      </td>
    </tr>
  );
}
