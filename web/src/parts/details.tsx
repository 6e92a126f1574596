import type { CreditColumns, Trajectory, Why } from "../api";
import type { EditedEdge } from "../api-edges";
import { number, signed } from "../pure/format";
import { at } from "../pure/graph";
import type { Listing } from "../pure/marks";
import { edgeKey } from "../pure/rail";
import type { Show } from "../pure/url";
import { inline } from "../pure/visible";
import { spokenKind } from "../pure/words";
import { useSpanCredits, useWhy } from "../queries";
import { Edges } from "./edges";
import { LabelSection } from "./label-section";
import { Notes } from "./notes";
import { Opinions } from "./opinions";
import { SpanLink } from "./span-link";
import { StaleMark } from "./stale-mark";
import { Trouble } from "./trouble";

interface Props {
  project: string;
  trajectory: Trajectory;
  span: number;
  credits: CreditColumns | undefined;
  /** What people call the run shown. */
  run: string;
  listing: Listing;
  /** Edges that people took out. */
  removed: EditedEdge[];
  show: Show;
  pointed: string | null;
  onPoint: (key: string | null) => void;
  onSelect: (span: number) => void;
  onClose: () => void;
  onEdit: () => void;
}

/** Why one span has its number: the arithmetic, the path, the edges with their evidence, other runs' numbers. */
export function Details(props: Props) {
  const { project, trajectory, span, credits, onSelect } = props;
  const notes = trajectory.report.filter((note) => note.span === span);
  const gone = (own: "parent" | "child") => props.removed.filter(({ saying }) => saying[own] === span);
  const shared = { trajectory, pointed: props.pointed, onPoint: props.onPoint, onSelect };
  return (
    <>
      <header className="panelhead">
        <h2>
          <span className="no">s{span}</span> {spokenKind(at(trajectory.kind, span), trajectory.name[span])}
        </h2>
        <button type="button" className="quiet" onClick={props.onClose} aria-label="clear the selection">
          ✕
        </button>
      </header>
      <WhyPanel {...props} />
      <Edges title="Fed by" listed={props.listing.fedBy} end="parent" removed={gone("child")} {...shared} />
      <Edges title="Feeds" listed={props.listing.feeds} end="child" removed={gone("parent")} {...shared} />
      <button type="button" className="editedges" onClick={props.onEdit}>
        Edit edges
      </button>
      {at(trajectory.is_action, span) && <OtherRuns {...props} shown={credits?.run ?? null} />}
      <Opinions {...{ project, span }} trajectory={trajectory.id} action={at(trajectory.is_action, span)} />
      {at(trajectory.is_action, span) && <LabelSection key={span} {...{ project, span }} trajectory={trajectory.id} />}
      {notes.length > 0 && (
        <section>
          <h3>Notes</h3>
          <Notes notes={notes} />
        </section>
      )}
    </>
  );
}

function WhyPanel({ project, trajectory, span, credits, run, show, onSelect }: Props) {
  const why = useWhy(project, trajectory.id, credits?.run ?? null, span);
  if (!at(trajectory.is_action, span)) {
    return <p className="muted">An observation: the policy did not write it, so it is masked and gets no credit.</p>;
  }
  if (!credits) return null;
  if (why.error && !why.data) return <Trouble error={why.error} what="why" />;
  return (
    <section aria-label="Why">
      <h3>
        Why <span className="muted">in {inline(run)}</span>
      </h3>
      {why.data ? <Sum why={why.data} show={show} onSelect={onSelect} /> : <p className="muted">…</p>}
      {why.data && <Path path={why.data.path} onSelect={onSelect} />}
      {why.data?.credit === 0 && credits.law === "mask" && why.data.path.length === 0 && (
        <p className="muted">No path leads from this span to the outcome: nothing the outcome rests on used it.</p>
      )}
    </section>
  );
}

/** The terms as a sum that a reader can check. */
function Sum({ why, show, onSelect }: { why: Why; show: Show; onSelect: (span: number) => void }) {
  if (why.credit === null) return <p className="muted">Not scored by this run.</p>;
  return (
    <table className="sum">
      <tbody>
        {why.terms.map((term, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: terms come in a fixed order
          <tr key={i}>
            <td>
              {inline(term.name)}
              <From spans={term.spans} onSelect={onSelect} />
            </td>
            <td className="figure">{signed(term.value)}</td>
          </tr>
        ))}
      </tbody>
      <tfoot>
        <tr>
          <th scope="row">credit, in reward units</th>
          <td className="figure">{signed(why.credit)}</td>
        </tr>
        {(show === "advantage" || why.advantage !== why.credit) && (
          <tr className="after">
            <th scope="row">advantage, after scaling</th>
            <td className="figure">{signed(why.advantage)}</td>
          </tr>
        )}
      </tfoot>
    </table>
  );
}

function From({ spans, onSelect }: { spans: number[]; onSelect: (span: number) => void }) {
  if (spans.length === 0) return null;
  return (
    <span className="muted">
      {" "}
      {spans.slice(0, 5).map((span) => (
        <SpanLink key={span} span={span} onSelect={onSelect} />
      ))}
      {spans.length > 5 && ` and ${spans.length - 5} more`}
    </span>
  );
}

function Path({ path, onSelect }: { path: Why["path"]; onSelect: (span: number) => void }) {
  const start = path[0];
  if (!start) return null;
  return (
    <div className="path">
      <h4>Path to the outcome</h4>
      <ol>
        <li>
          <SpanLink span={start.parent} onSelect={onSelect} /> this span
        </li>
        {path.map((step) => (
          <li key={edgeKey(step.parent, step.child)}>
            <SpanLink span={step.child} onSelect={onSelect} /> {inline(step.why)}{" "}
            <span className="muted small">{step.kind}</span>
          </li>
        ))}
      </ol>
    </div>
  );
}

interface Others {
  project: string;
  trajectory: Pick<Trajectory, "id">;
  span: number;
  show: Show;
  shown: string | null;
}

/** Every other finished run's number of this span, one line a label. */
export function OtherRuns({ project, trajectory, span, show, shown }: Others) {
  const found = useSpanCredits(project, trajectory.id, span).data?.items ?? [];
  const rest = found.filter((one) => one.run !== shown);
  if (rest.length === 0) return null;
  return (
    <section aria-label="Other runs">
      <h3>
        Other runs <span className="muted">{show}, newest first</span>
      </h3>
      <table className="sum">
        <tbody>
          {rest.map((one) => (
            <tr key={one.run}>
              <td>
                {inline(`${one.label} #${one.number}`)}
                <StaleMark run={one} />
              </td>
              <td className="figure">{number(one[show])}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
