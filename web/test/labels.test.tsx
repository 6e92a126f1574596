import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import fc from "fast-check";
import { afterEach, describe, expect, test, vi } from "vitest";
import type { Label } from "../src/api";
import { NoteField, Verdicts } from "../src/parts/verdicts";
import {
  changed,
  interval,
  labelRow,
  loose,
  NO_LABELS,
  OUTCOMES,
  QUEUES,
  readLabels,
  VERDICTS,
  type Verdict,
  type Words,
  withNote,
  withVerdict,
  wordsOf,
  writeLabels,
} from "../src/pure/labels";

afterEach(cleanup);

const views = fc.record({
  show: fc.constantFrom("queue" as const, "grades" as const),
  queue: fc.constantFrom(...QUEUES),
  outcome: fc.constantFrom(...OUTCOMES),
  trajectory: fc.option(fc.string({ unit: "grapheme", minLength: 1, maxLength: 30 }), { nil: null }),
  span: fc.option(fc.nat(1e6), { nil: null }),
});
const words: fc.Arbitrary<Words> = fc
  .array(fc.tuple(fc.nat(20), fc.record({ verdict: fc.option(fc.constantFrom(...VERDICTS)), note: fc.string() })))
  .map((entries) => new Map(entries));

function label(span: number, verdict: Verdict, labeller = "ann", note: string | null = null): Label {
  return {
    trajectory: "t",
    external_id: "t",
    span,
    verdict,
    labeller,
    note,
    blind: true,
    seconds: null,
    queue: null,
    at: "2026-04-14T18:40:12Z",
  };
}

describe("the queue is a link", () => {
  test("what is written is read back", () => {
    fc.assert(
      fc.property(views, (view) => {
        expect(readLabels(writeLabels(view))).toEqual(view);
      }),
    );
    expect(writeLabels(NO_LABELS)).toBe("");
  });

  test("nonsense in a link is left out", () => {
    expect(readLabels("?queue=best&outcome=most&span=3&show=all")).toEqual(NO_LABELS);
    fc.assert(fc.property(fc.string(), (search) => void readLabels(search)));
  });
});

describe("what is said and not saved yet", () => {
  test("the same verdict again takes it back, and the note stays", () => {
    const once = withNote(withVerdict(new Map(), 3, "culprit"), 3, "late");
    expect(once.get(3)).toEqual({ verdict: "culprit", note: "late" });
    expect(withVerdict(once, 3, "culprit").get(3)).toEqual({ verdict: null, note: "late" });
    expect(withVerdict(once, 3, "unsure").get(3)).toEqual({ verdict: "unsure", note: "late" });
  });

  test("labels are words again", () => {
    expect([...wordsOf([label(1, "culprit", "ann", "why"), label(4, "unsure")])]).toEqual([
      [1, { verdict: "culprit", note: "why" }],
      [4, { verdict: "unsure", note: "" }],
    ]);
  });

  test("what differs from what is saved is sent, in order of the spans", () => {
    const saved = wordsOf([label(1, "culprit"), label(4, "unsure"), label(6, "innocent")]);
    const now = withNote(
      withVerdict(withVerdict(withVerdict(saved, 7, "culprit"), 4, "unsure"), 2, "innocent"),
      6,
      "so",
    );
    expect(changed(now, saved)).toEqual([2, 4, 6, 7]);
    expect(changed(withVerdict(withVerdict(saved, 1, "unsure"), 1, "culprit"), saved)).toEqual([]);
    expect(changed(withNote(saved, 1, "  "), saved)).toEqual([]);
  });

  test("a new note leaves the verdict as it was given, a new verdict does not", () => {
    const [said, here] = [label(1, "culprit"), { blind: false, seconds: 2, queue: null }];
    const noted = labelRow("t", 1, "ann", { verdict: "culprit", note: " so " }, here, said);
    expect(noted).toMatchObject({ verdict: "culprit", note: "so", blind: true, seconds: null });
    const other = labelRow("t", 1, "ann", { verdict: "unsure", note: " " }, here, said);
    expect(other).toMatchObject({ verdict: "unsure", note: null, blind: false, seconds: 2 });
    expect(labelRow("t", 1, "ann", { verdict: null, note: "" }, here, said).verdict).toBe(null);
  });

  test("nothing is sent twice, and a note alone is never lost silently", () => {
    fc.assert(
      fc.property(words, words, (now, saved) => {
        expect(changed(saved, saved)).toEqual([]);
        for (const span of changed(now, saved)) expect(now.get(span)).not.toEqual(saved.get(span));
        for (const span of loose(now)) expect(now.get(span)?.verdict).toBe(null);
      }),
    );
    expect(loose(withNote(new Map(), 5, "why"))).toEqual([5]);
    expect(loose(withNote(new Map(), 5, " "))).toEqual([]);
  });
});

test("a figure has its interval where there is one", () => {
  expect(interval({ value: 2 / 3, low: 0.2, high: 0.9 })).toBe("0.67 [0.20, 0.90]");
  expect(interval({ value: 0.5, low: null, high: null })).toBe("0.50");
  expect(interval({ value: null, low: null, high: null })).toBe("–");
});

test("the verdict that is said is pressed, and each has its key", () => {
  const say = vi.fn();
  render(<Verdicts said="contributed" onSay={say} />);
  const buttons = screen.getAllByRole("button");
  expect(buttons.map((one) => one.textContent)).toEqual(["1 culprit", "2 contributed", "3 innocent", "4 can’t tell"]);
  expect(buttons.map((one) => one.getAttribute("aria-pressed"))).toEqual(["false", "true", "false", "false"]);
  fireEvent.click(screen.getByRole("button", { name: "innocent" }));
  expect(say).toHaveBeenCalledWith("innocent");
});

test("Enter leaves the note, so that keys label again", () => {
  const [note, done] = [vi.fn(), vi.fn()];
  render(<NoteField field={{ current: null }} note="" onNote={note} onDone={done} />);
  const field = screen.getByRole("textbox");
  field.focus();
  fireEvent.change(field, { target: { value: "late" } });
  expect(note).toHaveBeenCalledWith("late");
  fireEvent.keyDown(field, { key: "Enter" });
  expect(document.activeElement).not.toBe(field);
  expect(done).toHaveBeenCalledOnce();
});
