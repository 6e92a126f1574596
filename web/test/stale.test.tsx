import { QueryClientProvider } from "@tanstack/react-query";
import { cleanup, render, screen, within } from "@testing-library/react";
import type { ReactElement } from "react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Hits } from "../src/parts/dash-hits";
import { RunName } from "../src/parts/dash-panel";
import { OtherRuns } from "../src/parts/details";
import { Grades } from "../src/parts/grades";
import { queryClient } from "../src/queries";

const WHY = "the edge s1 -> s3 of a was added";
const FRESH = { label: "grpo", number: 2, stale: false, stale_reason: null };
const OLD = { label: "dag", number: 1, stale: true, stale_reason: WHY };

beforeEach(() => {
  vi.stubGlobal("fetch", () => new Promise(() => {}));
  const none = { value: null, low: null, high: null };
  const graded = { graded: 0, hit_at_1: none, hit_at_3: none, mrr: none };
  const runs = [
    { run: "2", ...FRESH, ...graded },
    { run: "1", ...OLD, ...graded },
  ];
  const found = { labelled: 1, labels: 1, blind: 0, runs, kappa: null, remarks: [] };
  queryClient.setQueryData(["labels", "default", "grades", "all", null], found);
  const numbers = { credit: 0.5, advantage: 0.5 };
  const items = [
    { run: "2", ...FRESH, ...numbers },
    { run: "1", ...OLD, ...numbers },
  ];
  queryClient.setQueryData(["span credits", "default", "t", 1], { span: 1, items });
});

afterEach(() => {
  cleanup();
  queryClient.clear();
  vi.unstubAllGlobals();
});

const show = (element: ReactElement) =>
  render(<QueryClientProvider client={queryClient}>{element}</QueryClientProvider>);

test.each([
  [
    "beside a span's number",
    <OtherRuns key="" project="default" trajectory={{ id: "t" }} span={1} show="credit" shown={null} />,
  ],
  ["among the grades", <Grades key="" project="default" />],
  ["among the attributors held against labels", <Hits key="" project="default" />],
])("a stale run is marked, with the reason: %s", (_, element) => {
  show(element);
  expect(within(screen.getByRole("row", { name: /dag #1/ })).getByText("stale").title).toBe(WHY);
  expect(within(screen.getByRole("row", { name: /grpo #2/ })).queryByText("stale")).toBeNull();
});

test("so it is in the other panels of the dashboard", () => {
  show(<RunName run={{ id: "1", ...OLD, attributor: "dag", total: 2 }} />);
  expect(screen.getByText("stale").title).toBe(WHY);
});
