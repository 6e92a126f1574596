/** What people say of spans: ui.md section 7, journey 7. */

import { AxeBuilder } from "@axe-core/playwright";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { launch } from "./browser.mjs";
import { call, score, upload } from "./server.mjs";
import { watch } from "./watch";

const { server: served, ids, dag, grpo } = inject("served");
const server = { ...served, stop: async () => {} };
const unique = (name: string) => `${name}-${Date.now()}`;
let browser: Browser;

beforeAll(async () => {
  browser = await launch();
});

afterAll(() => browser.close());

/** A reader of their own: names and choices are kept in the browser. */
async function reader(colorScheme: "light" | "dark" = "light"): Promise<BrowserContext> {
  return browser.newContext({ viewport: { width: 1440, height: 900 }, colorScheme });
}

async function open(context: BrowserContext, path: string): Promise<Page> {
  const page = await context.newPage();
  await page.goto(server.url + path);
  return page;
}

/** Six failed rollouts and a run over them. */
async function project(): Promise<{ name: string; ids: Record<string, string> }> {
  const name = unique("labels");
  const rows = Array.from({ length: 6 }, (_, n) => ({
    trajectory_id: `lost-${n}`,
    group_id: `g${n % 2}`,
    reward: n === 5 ? 1 : 0,
    messages: [
      { role: "user", content: `book room ${n}` },
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "c", type: "function", function: { name: "book", arguments: `{"room": ${n}}` } }],
      },
      { role: "tool", tool_call_id: "c", content: "no such room" },
      { role: "assistant", content: "It is booked." },
    ],
  }));
  const found = await upload(server, rows.map((row) => JSON.stringify(row)).join("\n"), "rooms.jsonl", name);
  await score(server, "dag", name);
  return { name, ids: found };
}

async function rowsOf(name: string): Promise<Record<string, unknown>[]> {
  const text = await (await fetch(`${server.url}/api/v1/labels/export?project=${name}`)).text();
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));
}

const selected = (page: Page, span: number) => page.locator(`[data-span="${span}"].selected`).waitFor();

test("7 a label is given by keyboard alone, without seeing credit, and is in the export", async () => {
  const { name } = await project();
  const context = await reader();
  const seen = await watch(context, server.url);
  const page = await open(context, `/p/${name}/labels?outcome=any&queue=high`);
  await page.getByLabel("your name").waitFor();
  await page.keyboard.type("Ann");
  await page.keyboard.press("Enter");
  await selected(page, 1);
  await page.getByText("labels count as blind").waitFor();
  expect(await page.locator(".span .cell").count()).toBe(0);
  const id = new URL(page.url()).searchParams.get("t");
  const { external_id } = await call(server, `/trajectories/${id}?project=${name}`);

  await page.keyboard.press("j");
  await selected(page, 2);
  await page.keyboard.press("1");
  await page.getByText("only what the policy wrote gets a verdict").first().waitFor();
  await page.keyboard.press("k");
  await selected(page, 1);
  await page.keyboard.press("2");
  await page.keyboard.press("1");
  await page.keyboard.press("m");
  await page.keyboard.type("room 14 is not 41");
  await page.keyboard.press("Enter");
  await page.keyboard.press("]");
  await selected(page, 3);
  await page.keyboard.press("3");
  expect(await page.getByRole("list", { name: "Verdicts on this rollout" }).getByRole("listitem").count()).toBe(2);
  await page.keyboard.press("s");
  await page.getByText("1 rollout labelled by you").waitFor();
  await page.waitForURL((url) => url.searchParams.get("t") !== id);

  const rows = await rowsOf(name);
  expect(rows).toEqual([
    expect.objectContaining({ schema: "trajcredit.label/1", trajectory_id: external_id, span_index: 1 }),
    expect.objectContaining({ trajectory_id: external_id, span_index: 3, verdict: "innocent", note: null }),
  ]);
  expect(rows[0]).toMatchObject({
    verdict: "culprit",
    note: "room 14 is not 41",
    labeller: "Ann",
    blind: true,
    queue: "high",
  });
  expect(rows[0]?.seconds).toBeGreaterThan(0);
  expect(seen).toEqual({ dialogs: [], offOrigin: [], violations: [], errors: [] });
  await context.close();
});

test("the credit is shown once the labels are saved, and what is said then is not blind", async () => {
  const { name } = await project();
  const context = await reader();
  await context.addInitScript(() => localStorage.setItem("trajcredit.labeller", "Bea"));
  const page = await open(context, `/p/${name}/labels?outcome=any&queue=high`);
  await selected(page, 1);
  await page.keyboard.press("s");
  await page.getByText("Nothing to save yet").waitFor();
  await page.keyboard.press("1");
  await page.keyboard.press("Shift+S");
  await page.locator(".span .cell").first().waitFor();
  await page.keyboard.press("4");
  await page.keyboard.press("s");
  await page.getByText("1 rollout labelled by you").waitFor();
  await expect
    .poll(async () => (await rowsOf(name)).map(({ verdict, blind }) => [verdict, blind]))
    .toEqual([["unsure", false]]);
  const blind = page.getByRole("button", { name: "blind", exact: true });
  await blind.click();
  await page.locator(".span .cell").first().waitFor();
  await page.getByText("count as not blind").waitFor();
  await blind.click();
  await page.getByText("count as not blind").waitFor();
  await page.keyboard.press("x");
  await page.getByText("labels count as blind").waitFor();
  await page.getByLabel("next by").selectOption("random");
  await page.getByLabel("outcome").selectOption("pass");
  await page
    .getByText(/Nothing to label here|book room 5/)
    .first()
    .waitFor();
  await context.close();
});

test("labels stand beside the credit, grade the runs, and are counted in the list", async () => {
  const context = await reader();
  await context.addInitScript(() => localStorage.setItem("trajcredit.labeller", "Cid"));
  const page = await open(context, `/p/default/t/${ids["flight-1"]}?span=s2&by=${dag}&vs=${grpo}`);
  const label = page.getByRole("region", { name: "Label" });
  await label.waitFor();
  await page.keyboard.press("1");
  await label.getByText("culprit by you").waitFor();
  await page.keyboard.press("m");
  await page.keyboard.type("the date");
  await page.keyboard.press("Enter");
  await label.getByText("the date").waitFor();
  const figures = page.locator(".agreement");
  await figures.getByText("hit@1").first().waitFor();
  const grades = await call(server, `/labels/grades?trajectory=${ids["flight-1"]}`);
  const mine = grades.runs.find((run: { run: string }) => run.run === dag);
  expect(await figures.textContent()).toContain(`hit@1 ${mine.hit_at_1.value.toFixed(2)}`);
  const own = (await rowsOf("default")).filter((row) => row.labeller === "Cid");
  expect(own).toEqual([expect.objectContaining({ verdict: "culprit", note: "the date", blind: false, queue: null })]);

  await page.goto(`${server.url}/p/default/labels?show=grades`);
  const table = page.getByRole("table", { name: "All labels" });
  const all = await call(server, "/labels/grades");
  await table.waitFor();
  expect(await table.locator("tbody tr").count()).toBe(all.runs.length);
  const first = all.runs[0].hit_at_1;
  const shown = `${first.value.toFixed(2)} [${first.low.toFixed(2)}, ${first.high.toFixed(2)}]`;
  expect(await table.locator("tbody td").nth(1).textContent()).toBe(shown);
  const taken = page.waitForEvent("download");
  await page.getByRole("link", { name: /^Download the labels/ }).click();
  expect((await taken).suggestedFilename()).toBe("labels.jsonl");

  await page.goto(`${server.url}/p/default/trajectories?run=dag`);
  await page.getByLabel("labels").selectOption("true");
  await page.waitForURL("**labelled=true*");
  await page.getByRole("link", { name: "flight-1", exact: true }).waitFor();
  await page.getByLabel("labels").selectOption("false");
  await page.getByRole("link", { name: "flight-1", exact: true }).waitFor({ state: "detached" });

  await page.goto(`${server.url}/p/default/t/${ids["flight-1"]}?span=s2&by=${dag}`);
  await label.getByText("culprit by you").waitFor();
  await page.keyboard.press("1");
  await label.getByText("culprit by you").waitFor({ state: "detached" });
  expect((await rowsOf("default")).filter((row) => row.labeller === "Cid")).toEqual([]);
  await context.close();
});

test("axe finds nothing serious on the label screens in either theme", async () => {
  const { name } = await project();
  for (const theme of ["light", "dark"] as const) {
    const context = await reader(theme);
    const page = await open(context, `/p/${name}/labels?outcome=any&queue=high`);
    await page.getByLabel("your name").waitFor();
    const look = async () => {
      const found = await new AxeBuilder({ page }).analyze();
      const bad = found.violations.filter(({ impact }) => impact === "serious" || impact === "critical");
      expect(bad.map(({ id, nodes }) => [id, nodes.map((node) => node.html)])).toEqual([]);
    };
    await look();
    await page.keyboard.type("Dee");
    await page.keyboard.press("Enter");
    await selected(page, 1);
    await page.keyboard.press("1");
    await look();
    await page.keyboard.press("Shift+S");
    await page.locator(".span .cell").first().waitFor();
    await look();
    await page.getByRole("button", { name: "Grades" }).click();
    await page.getByRole("table", { name: "All labels" }).waitFor();
    await look();
    await context.close();
  }
});
