/** The edges at a span as the panel lists them, and the values they mark in the transcript. */

import type { EdgeEvidence } from "../api";
import type { Mark } from "./excerpt";
import { edgeKey } from "./rail";

/** Colours that marks take in turn; the stylesheet has as many. */
export const COLOURS = 6;

export interface Listed {
  key: string;
  edge: EdgeEvidence;
  /** The call or result between the selected span and this edge, where it does not touch the span itself. */
  via: number | null;
  /** null where the edge rests on no values. */
  colour: number | null;
}

export interface Listing {
  fedBy: Listed[];
  feeds: Listed[];
}

interface Evidence {
  fed_by: EdgeEvidence[];
  feeds: EdgeEvidence[];
}

/** `beside`: the evidence of the result of a selected call, or of the call of a selected result. */
export function listing(
  own: Evidence,
  beside: { span: number; isResult: boolean; evidence: Evidence } | null,
): Listing {
  const through = (edges: EdgeEvidence[]) => edges.map((edge) => ({ edge, via: beside?.span ?? null }));
  const direct = (edges: EdgeEvidence[]) => edges.map((edge) => ({ edge, via: null }));
  let colour = 0;
  const listed = ({ edge, via }: { edge: EdgeEvidence; via: number | null }): Listed => ({
    key: edgeKey(edge.parent, edge.child),
    edge,
    via,
    colour: edge.matches.length > 0 ? colour++ % COLOURS : null,
  });
  return {
    fedBy: [...direct(own.fed_by), ...through(beside && !beside.isResult ? beside.evidence.fed_by : [])].map(listed),
    feeds: [...direct(own.feeds), ...through(beside?.isResult ? beside.evidence.feeds : [])].map(listed),
  };
}

/** Marks by span. While one edge is pointed at, its values alone are marked, and strongly. */
export function marksOf({ fedBy, feeds }: Listing, pointed: string | null): Map<number, Mark[]> {
  const marks = new Map<number, Mark[]>();
  const add = (span: number, mark: Mark) => marks.set(span, [...(marks.get(span) ?? []), mark]);
  for (const { key, edge, colour } of [...fedBy, ...feeds]) {
    if (colour === null || (pointed !== null && key !== pointed)) continue;
    for (const match of edge.matches) {
      const look = { colour, strong: key === pointed };
      add(edge.parent, { start: match.parent_start, end: match.parent_end, ...look });
      add(edge.child, { start: match.child_start, end: match.child_end, ...look });
    }
  }
  return marks;
}
