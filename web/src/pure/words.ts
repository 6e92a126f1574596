/** What kinds, laws and badges are called on screen and aloud. */

import { inline } from "./visible";

export type Kind = "system" | "user" | "assistant" | "reasoning" | "tool_call" | "tool_result" | "meta";

const TAGS: Record<Kind, string> = {
  system: "system",
  user: "user",
  assistant: "message",
  reasoning: "think",
  tool_call: "call",
  tool_result: "result",
  meta: "meta",
};

const SPOKEN: Record<Kind, string> = {
  system: "system text",
  user: "user message",
  assistant: "message",
  reasoning: "reasoning",
  tool_call: "tool call",
  tool_result: "result of",
  meta: "meta",
};

export const tag = (kind: Kind) => TAGS[kind];

/** "tool call search_flights", "result of search_flights", "user message". */
export function spokenKind(kind: Kind, name: string | null | undefined): string {
  return [kind === "tool_result" && !name ? "result" : SPOKEN[kind], name ? inline(name) : ""].join(" ").trim();
}

/** A tool's name, or what a span without one is called. */
export const spanName = (name: string) => inline(Object.hasOwn(TAGS, name) ? TAGS[name as Kind] : name);

const LAWS = {
  flat: "one number for every action",
  mask: "all of it on some actions, a share or 0 on the others",
  shared: "shares that add up to the total",
  free: "no sum rule",
};

export const lawWords = (law: keyof typeof LAWS) => LAWS[law];

const BASES: Record<string, string> = {
  declared: "the tool's declaration says so",
  settings: "the project's settings say so",
  verb: "told by the verb in its name",
  description: "told by its description",
  command: "told by its command line",
  code: "told by the code it runs",
  reply: "told by its replies, which count tests",
  acknowledgement: "told by its replies, which are mere acknowledgements",
};

export const basisWords = (basis: string) => BASES[basis] ?? basis;
