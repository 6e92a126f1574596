import { QueryClientProvider } from "@tanstack/react-query";
import { cleanup, fireEvent, render, screen, waitFor } from "@testing-library/react";
import type { ReactElement } from "react";
import { afterEach, describe, expect, test, vi } from "vitest";
import type { EdgeEvidence, IngestItem, Run, Trajectory } from "../src/api";
import { Combobox } from "../src/parts/combobox";
import { CreditCell } from "../src/parts/credit-cell";
import { FileReport } from "../src/parts/file-report";
import { LongName } from "../src/parts/long-name";
import { Overview } from "../src/parts/overview";
import { RunChooser } from "../src/parts/run-chooser";
import { type SpanHead, SpanRow } from "../src/parts/span-row";
import { Strip } from "../src/parts/strip";
import { Title } from "../src/parts/trajectory-bars";
import { listing, marksOf } from "../src/pure/marks";
import { queryClient } from "../src/queries";

afterEach(() => {
  cleanup();
  queryClient.clear();
});

const show = (element: ReactElement) =>
  render(<QueryClientProvider client={queryClient}>{element}</QueryClientProvider>).container;

describe("a credit cell", () => {
  test("no credit by rule, not scored and exactly zero look different", () => {
    const looks = [
      show(<CreditCell credit={null} isAction={false} full={1} />).innerHTML,
      show(<CreditCell credit={null} isAction full={1} />).innerHTML,
      show(<CreditCell credit={0} isAction full={1} />).innerHTML,
    ];
    expect(new Set(looks).size).toBe(3);
    expect(looks[0]).toContain("hatch");
    expect(looks[2]).toContain("0.00");
  });

  test("blame grows to the left of the line, credit to the right, both to the shared scale", () => {
    const cell = show(<CreditCell credit={-0.25} isAction full={0.5} />);
    expect(cell.querySelector<HTMLElement>(".bar.blame")?.style.width).toBe("25%");
    expect(cell.textContent).toBe("−0.25");
    expect(show(<CreditCell credit={2} isAction full={1} />).querySelector(".over.right")).not.toBeNull();
  });
});

const HEAD: SpanHead = {
  span: 2,
  total: 14,
  kind: "tool_call",
  name: "search_flights",
  agent: null,
  turn: 0,
  newTurn: false,
  isAction: true,
  isWrite: false,
  writeBasis: "",
  isError: false,
  size: 10,
  fedBy: 2,
  feeds: 1,
};

function row(text: string, head: Partial<SpanHead> = {}) {
  return show(
    <SpanRow
      project="default"
      trajectory="t"
      head={{ ...HEAD, ...head }}
      text={{ span: 2, head: text, tail: "", size: text.length }}
      columns={[{ key: "by", label: "shapley", values: [null, null, -0.36] }]}
      full={1}
      exact={false}
      marks={[{ start: 0, end: 3, colour: 1, strong: true }]}
      named=""
      standing="plain"
      selected={false}
      folded={false}
      tabbable
      onSelect={() => {}}
    />,
  );
}

describe("a span's row", () => {
  test("says aloud what it shows", () => {
    row("PRX");
    expect(screen.getByRole("listitem").getAttribute("aria-label")).toBe(
      "span 3 of 14, tool call search_flights, shapley minus 0.36, fed by 2, feeds 1",
    );
    expect(screen.getByRole("listitem").getAttribute("aria-setsize")).toBe("14");
  });

  test("what the log says stays text", () => {
    const hostile = `<img src=x onerror="alert(1)"><script>alert(1)</script>`;
    const shown = row(hostile, { name: "<b>pay</b>\u202e" });
    expect(shown.querySelector("img, script, b")).toBeNull();
    expect(shown.textContent).toContain(hostile);
    expect(shown.textContent).toContain("<b>pay</b>⟦U+202E⟧");
  });

  test("a matched value is marked", () => expect(row("PRX and more").querySelector("mark")?.textContent).toBe("PRX"));
});

test("a strip draws blame, credit, zero and nothing scored apart", () => {
  const strip = show(<Strip cells={[null, 0, -1, 1]} full={1} label="strip" />);
  const drawn = [...strip.querySelectorAll("path")].map((path) => path.getAttribute("d"));
  expect(drawn.every((d) => d)).toBe(true);
  expect(new Set(drawn).size).toBe(4);
});

describe("edges at a span", () => {
  const edge = (parent: number, child: number, values: string[]): EdgeEvidence => ({
    parent,
    child,
    kind: "value",
    weight: 1,
    rule: "value",
    why: "",
    sources: 1,
    matches: values.map((text, i) => ({
      child_text: text,
      child_start: 10 * i,
      child_end: 10 * i + 3,
      parent_text: text,
      parent_start: 20 * i,
      parent_end: 20 * i + 3,
    })),
  });
  const own = { fed_by: [edge(1, 2, ["PRX"])], feeds: [edge(2, 3, [])] };
  const beside = {
    span: 3,
    isResult: true,
    evidence: { fed_by: [edge(2, 3, [])], feeds: [edge(3, 6, ["ITN", "118"])] },
  };

  test("what a call's result feeds is fed through it", () => {
    const { fedBy, feeds } = listing(own, beside);
    expect(fedBy.map((one) => [one.key, one.via, one.colour])).toEqual([["1-2", null, 0]]);
    expect(feeds.map((one) => [one.key, one.via, one.colour])).toEqual([
      ["2-3", null, null],
      ["3-6", 3, 1],
    ]);
  });

  test("both sides of an edge are marked in one colour; pointing at it leaves only its own, and strong", () => {
    const all = marksOf(listing(own, beside), null);
    expect([...all.keys()].sort()).toEqual([1, 2, 3, 6]);
    expect(all.get(3)?.map((mark) => mark.colour)).toEqual(all.get(6)?.map((mark) => mark.colour));
    const one = marksOf(listing(own, beside), "1-2");
    expect([...one.keys()].sort()).toEqual([1, 2]);
    expect(one.get(1)?.[0]?.strong).toBe(true);
  });
});

describe("a trajectory as a whole", () => {
  const trajectory: Trajectory = {
    id: "1",
    external_id: "t-1",
    project: "default",
    group: "g",
    group_id: "0f",
    group_size: 1,
    group_scored: 0,
    group_mean: null,
    dataset: null,
    task: null,
    role: null,
    trial: null,
    step: null,
    policy_version: null,
    model: "gpt-5-mini",
    terminated: null,
    truncated: null,
    format: "toolbench",
    file: "log.json",
    line: 3,
    n_tokens: null,
    outcome: null,
    outcome_source: null,
    rewards: [],
    report: [
      { code: "paired-by-name", message: "the result has no call id", span: 1, trajectory: null, group: null },
      { code: "truncated", message: "the log ends in the middle", span: null, trajectory: null, group: null },
    ],
    kind: ["tool_call", "tool_result"],
    turn: [0, 0],
    name: ["look", "look"],
    agent: null,
    result_of: [null, 0],
    is_action: [true, false],
    is_write: [false, false],
    write_basis: ["verb", ""],
    is_error: [false, false],
    size: [2, 2],
  };
  const overview = (one: Trajectory, onSelect = (_: number) => {}) =>
    show(<Overview project="default" trajectory={one} credits={undefined} run="" onSelect={onSelect} />);

  test("says what was guessed, where, and that nothing was", () => {
    const went = vi.fn();
    const text = overview(trajectory, went).textContent;
    expect(text).toContain("the result has no call id paired-by-name");
    expect(text).toContain("the log ends in the middle truncated");
    fireEvent.click(screen.getByText("s1"));
    expect(went).toHaveBeenCalledWith(1);
    cleanup();
    expect(overview({ ...trajectory, report: [] }).textContent).toContain("Read without guesses or repairs.");
  });

  test("names the model where the log does", () => {
    const fact = (box: Element) => [...box.querySelectorAll("dt")].some((name) => name.textContent === "model");
    expect(fact(overview(trajectory))).toBe(true);
    expect(fact(overview({ ...trajectory, model: null }))).toBe(false);
    const title = (one: Trajectory) =>
      show(<Title toGroup="/" trajectory={one} toExport="/" onReport={() => {}} onLink={() => {}} />);
    expect(title(trajectory).textContent).toContain("model gpt-5-mini");
    expect(title(trajectory).textContent).toContain("2 notes");
    expect(title({ ...trajectory, model: null }).textContent).not.toContain("model");
  });
});

describe("choosing a run", () => {
  const run = (id: string, label: string, state: Run["state"] = "done"): Run => ({
    id,
    number: Number(id),
    label,
    attributor: label,
    parameters: {},
    reward_source: null,
    reward_name: null,
    group_by: null,
    dataset: null,
    state,
    done: 1,
    total: 2,
    error: null,
    stale: false,
    stale_reason: null,
    seed: null,
    code_version: "",
    edge_version: "",
    watermark: 0,
    created: "2026-05-03T10:00:00Z",
    started: null,
    finished: null,
    notes: [],
    critic: null,
    critic_fingerprint: null,
    judge: null,
    judge_fingerprint: null,
  });

  test("one says whose forecasts it read, where it asked a critic", () => {
    vi.stubGlobal("fetch", () => new Promise(() => {}));
    const asked: Run = { ...run("2", "doubly_robust"), critic: "compatible", critic_fingerprint: "0123456789ab" };
    const ways = { name: "by", empty: "none", open: true, onOpen: () => {}, onChoose: () => {} };
    show(<RunChooser project="default" runs={[asked, run("1", "grpo")]} shown="2" {...ways} />);
    expect(screen.getByText(/, critic compatible \(fingerprint 0123456789ab\)$/)).toBeTruthy();
    expect(screen.getAllByText(/critic/)).toHaveLength(1);
  });

  test("one says which rewards it read, and why it is out of date", () => {
    vi.stubGlobal("fetch", () => new Promise(() => {}));
    const reason = "a trajectory joined a group it scored";
    const old: Run = { ...run("1", "grpo"), reward_name: "tone", stale: true, stale_reason: reason };
    const ways = { name: "by", empty: "none", open: true, onOpen: () => {}, onChoose: () => {} };
    show(<RunChooser project="default" runs={[old]} shown="1" {...ways} />);
    expect(screen.getByText(/, rewards called tone, stale: a trajectory joined a group it scored$/)).toBeTruthy();
  });

  test("finished ones can be chosen, the others say how far they are", () => {
    const chosen = vi.fn();
    vi.stubGlobal("fetch", () => new Promise(() => {}));
    show(
      <RunChooser
        project="default"
        runs={[run("2", "dag", "running"), run("1", "grpo")]}
        name="by"
        empty="none"
        shown="1"
        open
        onOpen={() => {}}
        onChoose={chosen}
      />,
    );
    expect(screen.getByRole<HTMLButtonElement>("button", { name: /dag #2 running, 50 %/ }).disabled).toBe(true);
    fireEvent.click(screen.getByRole("button", { name: /^grpo/ }));
    expect(chosen).toHaveBeenCalledWith("1");
    vi.unstubAllGlobals();
  });
});

describe("a box that suggests", () => {
  const answer = (items: string[]) =>
    vi.stubGlobal("fetch", async () => new Response(JSON.stringify({ items }), { status: 200 }));
  afterEach(() => vi.unstubAllGlobals());

  function box(value = "") {
    const chosen = vi.fn();
    show(<Combobox project="default" what="tools" label="tool" value={value} onChange={chosen} />);
    return [screen.getByRole("combobox", { name: "tool" }), chosen] as const;
  }

  test("arrows point at a name, Enter takes it; Escape leaves what was typed", async () => {
    answer(["pay", "search"]);
    const [input, chosen] = box();
    expect(input.getAttribute("aria-expanded")).toBe("false");
    fireEvent.click(input);
    await waitFor(() => expect(input.getAttribute("aria-expanded")).toBe("true"));
    fireEvent.keyDown(input, { key: "ArrowDown" });
    fireEvent.keyDown(input, { key: "ArrowDown" });
    fireEvent.keyDown(input, { key: "ArrowDown" });
    const pointed = screen.getByRole("option", { selected: true });
    expect([pointed.textContent, pointed.id]).toEqual(["search", input.getAttribute("aria-activedescendant")]);
    fireEvent.keyDown(input, { key: "Enter" });
    expect(chosen).toHaveBeenCalledWith("search");
    fireEvent.change(input, { target: { value: "sea" } });
    fireEvent.keyDown(input, { key: "Escape" });
    expect(screen.queryByRole("listbox")).toBeNull();
    expect((input as HTMLInputElement).value).toBe("sea");
  });

  test("a name with hidden characters shows them, and is taken as it is", async () => {
    answer(["pay\u202e"]);
    const [input, chosen] = box();
    fireEvent.click(input);
    fireEvent.click(await screen.findByRole("option", { name: "pay⟦U+202E⟧" }));
    expect(chosen).toHaveBeenCalledWith("pay\u202e");
  });
});

test("a long name keeps its end, where ids of one file differ", () => {
  const [head, tail] = show(<LongName name="gpt-4o-airline.json.gz:33:2" />).querySelectorAll(".longname > span");
  expect([head?.textContent, tail?.textContent]).toEqual(["gpt-4o-airline.jso", "n.gz:33:2"]);
});

test("a file's report counts every status, what was wrong first, and says what is no log", () => {
  const item = (status: IngestItem["status"], reason: string | null = null): IngestItem => ({
    status,
    reason,
    id: null,
    external_id: null,
    file: null,
    line: null,
    report: [],
  });
  const items = [item("created"), item("skipped", "an image"), item("rejected", "line 2: no messages")];
  const result = { created: 1, duplicate: 0, replaced: 0, rejected: 1, conflict: 0, items };
  const upload = { key: 1, file: new File(["{}"], "runs.tar"), part: 1, result, error: null };
  show(<FileReport project="default" upload={upload} onReplace={() => {}} onAgain={() => {}} />);
  expect(screen.getByRole("status").textContent).toBe("1 created, 1 rejected, 1 skipped");
  expect(screen.getAllByRole("row").map((row) => row.textContent)).toEqual([
    "statustrajectorylinereport",
    "rejected––line 2: no messages",
    "created––",
    "skipped––an image",
  ]);
});
