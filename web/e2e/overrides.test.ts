/** Edges that people edit, by keyboard, and the cone of a span. */

import AxeBuilder from "@axe-core/playwright";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { launch } from "./browser.mjs";
import { call, score, upload } from "./server.mjs";

const server = { ...inject("served").server, stop: async () => {} };
const { ids: flights, dag: scoredFlights } = inject("served");
const project = `edits-${Date.now()}`;
let browser: Browser;
let id: string;
let run: string;

const log = (name: string, reward: number, said: string) =>
  JSON.stringify({
    trajectory_id: name,
    group_id: "g",
    reward,
    messages: [
      { role: "user", content: "Which flight to Paris?" },
      {
        role: "assistant",
        content: "",
        tool_calls: [{ id: "c", type: "function", function: { name: "search", arguments: '{"to": "PAR"}' } }],
      },
      { role: "tool", tool_call_id: "c", content: '{"flight": "FL-2210", "at": "9:00"}' },
      { role: "assistant", content: said },
    ],
  });

beforeAll(async () => {
  browser = await launch();
  const lines = [log("paris", 1, "FL-2210 leaves at nine."), log("lost", 0, "No idea.")];
  const ids = await upload(server, lines.join("\n"), "runs.jsonl", project);
  id = ids.paris ?? "";
  run = await score(server, "dag", project);
});

afterAll(() => browser.close());

async function open(path: string, scheme: "light" | "dark" = "light"): Promise<Page> {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 }, colorScheme: scheme });
  await page.goto(server.url + path);
  return page;
}

const row = (page: Page, span: number) => page.locator(`[data-span="${span}"]`);
const figures = (page: Page, span: number) => row(page, span).locator(".figure").allTextContents();

/** Presses Tab until what has the focus is called so. */
async function tabTo(page: Page, name: RegExp): Promise<void> {
  for (let presses = 0; presses < 60; presses++) {
    const here = await page.evaluate(() => {
      const one = document.activeElement as HTMLInputElement | null;
      return one?.getAttribute("aria-label") ?? one?.labels?.[0]?.textContent ?? one?.textContent ?? "";
    });
    if (name.test(here)) return;
    await page.keyboard.press("Tab");
  }
  throw new Error(`Tab leads to nothing called ${name}`);
}

test("an edge is removed with a reason by keyboard alone, previewed as the API says, saved and run", async () => {
  const page = await open(`/p/${project}/t/${id}?by=dag&span=s3`);
  await page.getByRole("button", { name: "Edit edges" }).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "remove the edge with s2" }).waitFor();
  await tabTo(page, /^remove the edge with s2/);
  await page.keyboard.press("Enter");
  await page.locator('[data-edge="2-3"].removed').waitFor({ state: "attached" });
  await tabTo(page, /^Preview in dag #1/);
  await page.keyboard.press("Enter");
  await page.getByRole("region", { name: "Preview" }).waitFor();
  const said = await call(server, `/trajectories/${id}/edges/preview?project=${project}`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ run, changes: [{ parent: 2, child: 3, action: "remove" }] }),
  });
  expect([said.before.credit[1], said.after.credit[1]]).toEqual([0.5, 0]);
  expect(await figures(page, 1)).toEqual(["0.50", "0.00", "−0.50"]);
  expect(await page.locator(".heads .runname").allTextContents()).toEqual([
    "dag #1 as it is",
    "dag #1 edited",
    "change",
  ]);
  expect(await page.locator(".preview tbody .figure").allTextContents()).toEqual(["0.50", "0.00", "−0.50"]);
  expect((await call(server, `/trajectories/${id}/edges?project=${project}`)).history).toEqual([]);

  await tabTo(page, /^reason/);
  await page.keyboard.type("the number was guessed");
  await tabTo(page, /^your name/);
  await page.keyboard.type("Ann");
  await tabTo(page, /^Save and run dag again/);
  await page.keyboard.press("Enter");
  await page.locator(".heads", { hasText: "dag #2" }).waitFor();
  await expect.poll(() => figures(page, 1)).toEqual(["0.00", "0.50"]);
  await page.getByText("Stale: the edge s2 -> s3 of paris was removed.").waitFor();
  const fed = page.getByRole("region", { name: "Fed by" });
  await fed.getByText("removed by Ann: the number was guessed").waitFor();
  expect(await fed.locator("s").first().textContent()).toBe("result of search");
  await page.locator('[data-edge="2-3"].removed .cross').waitFor({ state: "attached" });
  await page.close();
});

test("an edge is added by pointing at its source, shown as a person's, and taken back", async () => {
  const page = await open(`/p/${project}/t/${id}?by=dag&span=s3&edit=1`);
  await page.getByRole("button", { name: "pick in the transcript" }).click();
  await row(page, 0).click();
  await page.getByRole("button", { name: "Add edge" }).click();
  await page.locator('[data-edge="0-3"].pending').waitFor({ state: "attached" });
  await page.getByLabel(/^reason/).fill("the question asks for it");
  await page.getByLabel(/^your name/).fill("Ben");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  const fed = page.getByRole("region", { name: "Fed by" });
  await fed.getByText("a person says so: the question asks for it (Ben)").waitFor();
  await page.locator(".transcript .edge.override").first().waitFor({ state: "attached" });
  await page.goto(`${server.url}/p/${project}/trajectories?has=override`);
  await expect.poll(() => page.locator(".cover").allTextContents()).toEqual(["paris"]);
  await page.goto(`${server.url}/p/${project}/t/${id}?by=dag&span=s3&edit=1`);
  await page.getByRole("button", { name: "withdraw the edge with s0" }).click();
  await page.getByLabel(/^reason/).fill("it does not");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.locator(".transcript .edge.override").waitFor({ state: "detached" });
  const { in_force } = await call(server, `/trajectories/${id}/edges?project=${project}`);
  expect(in_force.map((one: { saying: { parent: number } }) => one.saying.parent)).toEqual([2]);
  await page.close();
});

test("the cone shows what a span rests on and what rests on it, is walked by keyboard, and is a link", async () => {
  const failed = `/p/default/t/${flights["flight-1"]}?by=${scoredFlights}&span=s3`;
  const page = await open(failed);
  await row(page, 3).and(page.locator(".selected")).waitFor();
  await page.keyboard.press("v");
  await page.waitForURL("**view=cone*");
  const nodes = () =>
    page
      .locator("[data-cone]")
      .evaluateAll((all) => all.map((one) => Number(one.getAttribute("data-cone"))).sort((a, b) => a - b));
  await page.locator("[data-cone]").first().waitFor();
  expect(await nodes()).toEqual([1, 2, 3, 6, 7, 8, 9, 10]);
  expect(await page.locator(".transcript .rail").count()).toBe(0);
  await page.locator(".conehead", { hasText: "s3 rests on 2 spans; 5 spans rest on it" }).waitFor();
  await page.locator('[data-cone="6"]').focus();
  await page.locator(".caption", { hasText: "s3 → s6 value 0.92: “ITN-48213”" }).waitFor();
  await page.getByRole("button", { name: "s6 call −0.50 select_itinerary , rests on it, dag #2 minus 0.50" }).waitFor();
  await page.keyboard.press("Enter");
  await page.waitForURL("**span=s6*");
  await page.locator('[data-cone="6"][aria-current="true"]').waitFor();
  await page.keyboard.press("v");
  await page.locator(".transcript .rail").waitFor({ state: "attached" });
  expect(await page.locator(".cone").count()).toBe(0);
  await page.close();
});

test("a cone that is not laid out in time says so, and the rail stays", async () => {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  await page.route("**/cone.worker*", (route) => route.fulfill({ contentType: "text/javascript", body: "" }));
  await page.goto(`${server.url}/p/${project}/t/${id}?by=${run}&span=s2&view=cone`);
  await page.getByText("The cone of s2 is not drawn: it took longer than 2 s. The rail stays.").waitFor();
  await page.locator(".transcript .rail").waitFor({ state: "attached" });
  await page.getByRole("button", { name: "cone", exact: true }).click();
  await page.waitForURL((url) => !url.search.includes("view=cone"));
  await page.close();
});

describe("accessibility", () => {
  const screens: Record<string, [() => string, string]> = {
    editor: [() => `/p/${project}/t/${id}?by=${run}&span=s3&edit=1`, ".editor .edgeline"],
    removed: [() => `/p/${project}/t/${id}?by=${run}&span=s3`, ".edgeitem.struck"],
    cone: [() => `/p/default/t/${flights["flight-1"]}?by=${scoredFlights}&span=s3&view=cone`, "[data-cone]"],
  };
  for (const [name, [path, there]] of Object.entries(screens)) {
    test.each(["light", "dark"] as const)(`${name}: nothing serious, %s`, async (scheme) => {
      const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, colorScheme: scheme });
      const page = await context.newPage();
      await page.goto(server.url + path());
      await page.locator(there).first().waitFor();
      const { violations } = await new AxeBuilder({ page }).analyze();
      const grave = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
      expect(grave.map(({ id, nodes }) => [id, nodes.map((node) => node.html)])).toEqual([]);
      await context.close();
    });
  }
});
