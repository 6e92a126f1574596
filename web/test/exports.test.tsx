import { QueryClientProvider } from "@tanstack/react-query";
import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import fc from "fast-check";
import { afterEach, describe, expect, test, vi } from "vitest";
import type { ExporterInfo } from "../src/api";
import { ExportForm } from "../src/parts/export-form";
import { command, python, type Taken, toText } from "../src/pure/commands";
import { between, LINE, linesOf, type Row, stretches, widest } from "../src/pure/tokens";
import { queryClient } from "../src/queries";

afterEach(cleanup);

const row = (start: number, owned: [mask: number, span: number, advantage: number][]): Row => ({
  start,
  ids: owned.map((_, i) => 1000 + i),
  texts: null,
  mask: owned.map(([mask]) => mask),
  spans: owned.map(([, span]) => span),
  advantages: owned.map(([, , advantage]) => advantage),
});

const A: [number, number, number] = [1, 2, -0.5];
const LAST: [number, number, number] = [1, 2, 0.25];
const B: [number, number, number] = [1, 4, -0.5];
const RESULT: [number, number, number] = [0, -1, 0];

describe("stretches of a row", () => {
  test("end where mask, owner or advantage change, and count as the row does", () => {
    expect(stretches(row(2000, [RESULT, A, A, LAST, B]))).toEqual([
      { start: 2000, end: 2001, trained: false, span: null, advantage: 0 },
      { start: 2001, end: 2003, trained: true, span: 2, advantage: -0.5 },
      { start: 2003, end: 2004, trained: true, span: 2, advantage: 0.25 },
      { start: 2004, end: 2005, trained: true, span: 4, advantage: -0.5 },
    ]);
    expect(stretches(row(0, []))).toEqual([]);
  });

  test("hold every token once, in order, with its own numbers; neighbours differ", () => {
    const one = fc.constantFrom(A, LAST, B, RESULT);
    fc.assert(
      fc.property(fc.array(one, { maxLength: 60 }), fc.nat(5000), (owned, start) => {
        const found = stretches(row(start, owned));
        const back = found.flatMap((s) =>
          Array.from({ length: s.end - s.start }, () => [s.trained ? 1 : 0, s.span ?? -1, s.advantage]),
        );
        expect(back).toEqual(owned);
        expect(found.map((s) => s.start)).toEqual([start, ...found.map((s) => s.end)].slice(0, found.length));
        for (const [i, s] of found.entries()) {
          const next = found[i + 1];
          if (next) expect([next.trained, next.span, next.advantage]).not.toEqual([s.trained, s.span, s.advantage]);
        }
      }),
    );
  });
});

describe("lines of the list", () => {
  const masked = row(0, [A, RESULT, RESULT, B]);

  test("masked stretches are folded until they are opened, and say who stands on either side", () => {
    const [prompt, first, folded, last] = linesOf(masked, 7, new Set());
    expect(prompt).toEqual({ kind: "prompt", tokens: 7 });
    expect([first?.kind, last?.kind]).toEqual(["tokens", "tokens"]);
    expect(folded).toMatchObject({ kind: "folded", before: 2, after: 4, stretch: { start: 1, end: 3 } });
    const opened = linesOf(masked, 7, new Set([1]));
    expect(opened.map((line) => line.kind)).toEqual(["prompt", "tokens", "folded", "tokens", "tokens"]);
  });

  test("the prompt stands before the first window alone", () =>
    expect(linesOf({ ...masked, start: 2000 }, 7, new Set()).map((line) => line.kind)).not.toContain("prompt"));

  test("a long stretch is cut into lines without losing a token", () => {
    const lines = linesOf(row(2000, Array(2 * LINE + 1).fill(A)), 0, new Set());
    expect(lines.map((line) => line.kind === "tokens" && [line.start, line.end])).toEqual([
      [2000, 2000 + LINE],
      [2000 + LINE, 2000 + 2 * LINE],
      [2000 + 2 * LINE, 2001 + 2 * LINE],
    ]);
  });

  test("the scale is the largest advantage that is trained", () => {
    expect(widest(row(0, [A, LAST, [0, -1, 9]]))).toBe(0.5);
    expect(widest(row(0, [RESULT]))).toBe(0);
  });

  test("what is masked between two turns are the observations between them; within a turn nobody knows", () => {
    const spans = {
      kind: ["user", "reasoning", "tool_call", "tool_result", "tool_call", "assistant"],
      turn: [0, 1, 1, 1, 2, 2],
      is_action: [false, true, true, false, true, true],
    };
    expect(between(spans, 2, 4)).toEqual(["tool_result"]);
    expect(between(spans, 1, 2)).toEqual([]);
    expect(between(spans, 4, 5)).toEqual([]);
    expect(between(spans, null, 2)).toEqual([]);
    expect(between(spans, 5, null)).toEqual([]);
  });
});

const TAKEN: Taken = {
  run: { id: "01a2", label: "grpo", number: 3, attributor: "grpo" },
  project: "default",
  to: "verl",
  parameters: {},
  tokenizer: null,
  database: "mine.db",
  suffix: ".parquet",
};
const SCORED = {
  attributor: "grpo",
  parameters: { scale: "group", ddof: null, kinds: ["call", "turn"], eps: 0.5, critic: "ridge" },
  reward_source: "human",
  reward_name: null,
  group_by: null,
};
const USUAL = [
  { name: "scale", type: "group | none", default: "none" },
  { name: "ddof", type: "int | none", default: "none" },
  { name: "kinds", type: "str, joined by +", default: "call+turn" },
  { name: "eps", type: "float", default: "0.50" },
];
const EXPORTER = [
  { name: "stop", type: "bool", default: "true" },
  { name: "max_tokens", type: "int | none", default: "none" },
  { name: "template_variables", type: "str, joined by +", default: "" },
  { name: "share", type: "copy | divide | last", default: "copy" },
];

describe("the same export elsewhere", () => {
  test("parameters are in the order of their names", () => {
    expect(toText("verl", {})).toBe("verl");
    expect(toText("verl", { whiten: "verl", share: "last" })).toBe("verl:share=last,whiten=verl");
  });

  test("as a command", () => {
    expect(command(TAKEN)).toBe("trajcredit export --db mine.db --run 01a2 --to verl -o grpo-3.parquet");
    const taken = {
      ...TAKEN,
      parameters: { share: "last" },
      tokenizer: "Qwen 3",
      database: "my logs.db",
      project: "it's; $(rm)",
    };
    expect(command(taken)).toBe(
      "trajcredit export --db 'my logs.db' --run 01a2 --to verl:share=last --tokenizer 'FOLDER/Qwen 3' " +
        `--project 'it'\\''s; $(rm)' -o grpo-3.parquet`,
    );
  });

  test("the database is to be filled in where the server's is no file", () => {
    expect(command({ ...TAKEN, database: null })).toBe(
      "trajcredit export --db DATABASE --run 01a2 --to verl -o grpo-3.parquet",
    );
  });

  test("as lines of Python, with what differs from the usual and values of their own types", () => {
    const parameters = { stop: "false", max_tokens: "4096", template_variables: "a=1", share: "last" };
    expect(python({ ...TAKEN, parameters, tokenizer: "q" }, SCORED, USUAL, EXPORTER)).toBe(
      [
        "import trajcredit as tc",
        "",
        'batch = tc.batch(tc.read("LOGS"), reward="human")',
        'credit = tc.attribute(batch, "grpo", scale="group", critic="ridge")',
        'tc.export(credit, to="verl", out="grpo-3.parquet", tokenizer="FOLDER/q", stop=False, max_tokens=4096, ' +
          'template_variables=("a=1",), share="last")',
      ].join("\n"),
    );
  });

  test("none is None where that is not what there is anyway", () => {
    const scored = { ...SCORED, parameters: { eps: null }, reward_source: null };
    const lines = python(
      { ...TAKEN, project: 'a"b', parameters: { max_tokens: "none" } },
      scored,
      USUAL,
      EXPORTER,
    ).split("\n");
    expect(lines.slice(2)).toEqual([
      'batch = tc.batch(tc.read("LOGS", project="a\\"b"))',
      'credit = tc.attribute(batch, "grpo", eps=None)',
      'tc.export(credit, to="verl", out="grpo-3.parquet", max_tokens=None)',
    ]);
  });
});

describe("parameters of an exporter", () => {
  const exporter: ExporterInfo = {
    name: "verl",
    summary: "",
    suffix: ".parquet",
    parameters: [
      { name: "tokenizer", type: "str | none", default: "none", sentence: "A folder.", choices: null },
      { name: "chat_template", type: "str | none", default: "none", sentence: "A file.", choices: null },
      { name: "misaligned", type: "stop | drop", default: "stop", sentence: "Or not.", choices: ["stop", "drop"] },
      { name: "stop", type: "bool", default: "true", sentence: "Train the end.", choices: null },
      { name: "share", type: "copy | last", default: "copy", sentence: "On each.", choices: ["copy", "last"] },
      { name: "max_tokens", type: "int | none", default: "none", sentence: "<b>Cut</b>.", choices: null },
    ],
  };

  function form(given: Record<string, string> = {}) {
    const onGive = vi.fn();
    render(
      <QueryClientProvider client={queryClient}>
        <ExportForm exporter={exporter} given={given} onGive={onGive} />
      </QueryClientProvider>,
    );
    return onGive;
  }

  test("names of files are no client's to give, and leaving out is asked for elsewhere", () => {
    form();
    for (const name of ["tokenizer", "chat_template", "misaligned"]) expect(screen.queryByLabelText(name)).toBeNull();
    expect(screen.getByLabelText("max_tokens").getAttribute("placeholder")).toBe("none");
    expect(screen.getByText("<b>Cut</b>.")).toBeTruthy();
  });

  test("what is set to its default is not given at all", () => {
    const given = form({ share: "last", stop: "false" });
    expect(screen.getByLabelText<HTMLInputElement>("stop").checked).toBe(false);
    fireEvent.change(screen.getByLabelText("share"), { target: { value: "copy" } });
    expect(given).toHaveBeenLastCalledWith({ stop: "false" });
    fireEvent.click(screen.getByLabelText("stop"));
    expect(given).toHaveBeenLastCalledWith({ share: "last" });
  });
});
