import { useState } from "react";
import type { SpanText } from "../api";
import { excerpt, known, type Limits, type Mark, missing, type Piece } from "../pure/excerpt";
import { count } from "../pure/format";
import { visible } from "../pure/visible";
import { useStretches } from "../queries";

const SHORT: Limits = { characters: 420, lines: 6, around: 90 };
const OPEN: Limits = { characters: 4000, lines: 60, around: 160 };
const WHOLE: Limits = { characters: Infinity, lines: Infinity, around: 160 };

/** Characters of one request for the middle of a long text, and of all that one press asks for. */
const STRETCH = 200_000;
const MOST = 2_000_000;

interface Props {
  project: string;
  trajectory: string;
  text: SpanText;
  marks: readonly Mark[];
  open: boolean;
}

/** A span's text as it is, cut where it is long, with the values of the edges in view marked. */
export function SpanBody({ project, trajectory, text, marks, open }: Props) {
  const [asked, setAsked] = useState<[number, number][]>([]);
  const parts = known(text.head, text.tail ?? "", text.size);
  const wanted = [...missing(parts, text.size, marks, 160), ...asked.filter(([from, to]) => to > from)];
  const fetched = useStretches(project, trajectory, text.span, wanted);
  const limits = asked.length > 0 ? WHOLE : open ? OPEN : SHORT;
  const pieces = excerpt([...parts, ...fetched], text.size, marks, limits);
  const more = (from: number, size: number) => setAsked([...asked, ...stretches(from, from + Math.min(size, MOST))]);
  return (
    <div className="body" dir="auto">
      {pieces.map((piece) => (
        <PieceOf key={piece.from} piece={piece} onMore={more} />
      ))}
    </div>
  );
}

/** A range in pieces that one request gives each; an empty one stands for "all that is loaded already". */
function stretches(from: number, to: number): [number, number][] {
  const count = Math.max(1, Math.ceil((to - from) / STRETCH));
  return Array.from({ length: count }, (_, i) => [from + i * STRETCH, Math.min(to, from + (i + 1) * STRETCH)]);
}

function PieceOf({ piece, onMore }: { piece: Piece; onMore: (from: number, size: number) => void }) {
  if (piece.kind === "text") return visible(piece.text);
  if (piece.kind === "mark") {
    return <mark className={`mark m${piece.colour}${piece.strong ? " strong" : ""}`}>{visible(piece.text)}</mark>;
  }
  return (
    <button
      type="button"
      className="gap"
      tabIndex={-1}
      onClick={(event) => {
        event.stopPropagation();
        onMore(piece.from, piece.loaded ? 0 : piece.size);
      }}
    >
      ⋯ {piece.size > MOST && !piece.loaded ? `show ${count(MOST)} of ` : "show all "}
      {count(piece.size)} more characters
    </button>
  );
}
