import type { EdgeEvidence, Trajectory } from "../api";
import type { EditedEdge } from "../api-edges";
import { number, plural } from "../pure/format";
import { at, CLAIM } from "../pure/graph";
import type { Listed } from "../pure/marks";
import { inline } from "../pure/visible";
import { spokenKind } from "../pure/words";
import { SpanLink } from "./span-link";

interface Props {
  title: string;
  listed: Listed[];
  end: "parent" | "child";
  trajectory: Trajectory;
  /** Edges of this direction that a person took out. */
  removed: EditedEdge[];
  pointed: string | null;
  onPoint: (key: string | null) => void;
  onSelect: (span: number) => void;
}

/** One direction of a span's edges, each with its reason; pointing at one marks its values on both sides. */
export function Edges({ title, listed, end, trajectory, removed, pointed, onPoint, onSelect }: Props) {
  return (
    <section className="edges" aria-label={title}>
      <h3>{title}</h3>
      {listed.length + removed.length === 0 && <p className="muted">nothing</p>}
      <ul>
        {listed.map(({ key, edge, via, colour }) => (
          <li
            key={key}
            className={`edgeitem${pointed === key ? " pointed" : ""}${edge.weight < CLAIM ? " candidate" : ""}`}
            onPointerEnter={() => onPoint(key)}
            onPointerLeave={() => onPoint(null)}
            onFocus={() => onPoint(key)}
            onBlur={() => onPoint(null)}
          >
            <div>
              <SpanLink span={edge[end]} onSelect={onSelect} />{" "}
              {spokenKind(at(trajectory.kind, edge[end]), trajectory.name[edge[end]])}
              {via !== null && <span className="muted"> through s{via}</span>}
            </div>
            <Reason edge={edge} colour={colour} />
          </li>
        ))}
        {removed.map(({ saying, derived }) => (
          <li key={`removed ${saying.parent}-${saying.child}`} className="edgeitem struck">
            <div>
              <SpanLink span={saying[end]} onSelect={onSelect} />{" "}
              <s>{spokenKind(at(trajectory.kind, saying[end]), trajectory.name[saying[end]])}</s>
            </div>
            <div className="reason">
              {derived && <s>{inline(derived.matches[0]?.child_text ?? derived.why)}</s>}
              <span>
                removed{saying.person && ` by ${inline(saying.person)}`}: {inline(saying.reason)}
              </span>
              <span className="muted small">
                {derived ? `was ${derived.kind} · weight ${number(derived.weight)}, not used` : "the log says so"}
              </span>
            </div>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Reason({ edge, colour }: { edge: EdgeEvidence; colour: number | null }) {
  return (
    <div className="reason">
      {edge.matches.slice(0, 4).map((match) => (
        <span key={match.child_start} className="match">
          <q className={`mark m${colour}`}>{inline(match.child_text)}</q>
          {match.child_text !== match.parent_text && (
            <>
              {" "}
              written there <q className={`mark m${colour}`}>{inline(match.parent_text)}</q>
            </>
          )}
        </span>
      ))}
      {edge.matches.length > 4 && <span className="muted">and {edge.matches.length - 4} more</span>}
      {edge.matches.length === 0 && <span>{inline(edge.why)}</span>}
      <span className="muted small">
        {edge.kind} · weight {number(edge.weight)}
        {edge.weight < CLAIM && " (a candidate, not a claim)"}
        {edge.matches.length > 0 && ` · ${sources(edge.sources)}`}
      </span>
    </div>
  );
}

const sources = (n: number) => (n <= 1 ? "the only earlier source" : `1 of ${plural(n, "earlier source")}`);
