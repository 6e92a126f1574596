/** Siblings: ui.md section 3.4 and section 7, journey 6. */

import AxeBuilder from "@axe-core/playwright";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { launch } from "./browser.mjs";
import { call, upload } from "./server.mjs";
import { watch } from "./watch";

const { server: served, ids, dag } = inject("served");
const server = { ...served, stop: async () => {} };
const unique = (name: string) => `${name}-${Date.now()}`;
let browser: Browser;
let context: BrowserContext;
let flights: string;

beforeAll(async () => {
  browser = await launch();
  context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  const page = await call(server, "/groups?text=denver");
  flights = page.items[0].id;
});

afterAll(() => browser.close());

async function open(path: string): Promise<Page> {
  const page = await context.newPage();
  await page.goto(server.url + path);
  return page;
}

const path = () => `/p/default/g/${flights}`;
const pairs = (page: Page) => page.locator(".pair");
const paragraph = (page: Page) => page.locator(".headline").first();

/** A log of one rollout with these calls, each answered by nothing much. */
function rollout(id: string, group: string, reward: number | null, calls: [name: string, args: object][]) {
  const messages: object[] = [{ role: "user", content: "go" }];
  calls.forEach(([name, args], i) => {
    const own = { id: `c${i}`, type: "function", function: { name, arguments: JSON.stringify(args) } };
    messages.push({ role: "assistant", content: null, tool_calls: [own] });
    messages.push({ role: "tool", tool_call_id: `c${i}`, content: "ok" });
  });
  return JSON.stringify({ trajectory_id: id, group_id: group, ...(reward === null ? {} : { reward }), messages });
}

describe("the wrong flight among its siblings", () => {
  test("6 the group names the argument of the search as the first split, on tree and side by side", async () => {
    const page = await open("/p/default/groups");
    await page.getByRole("link", { name: "denver-sanjose" }).click();
    await page.waitForURL(`**/p/default/g/${flights}`);
    const said =
      "First split that matters: step 1, search_flights argument 'to' (SJC mean 0.00, SJO mean 1.00, n 2 vs 2, weak).";
    await paragraph(page).waitFor();
    expect(await paragraph(page).textContent()).toContain(said);
    expect(await page.locator(".title").textContent()).toContain("pass 2 of 4 scoredmean 0.50sd (n−1) 0.58");
    expect(await page.locator(".title").textContent()).toContain("pass@1 0.50pass@2 0.83pass@4 1.00");
    const marked = page.locator(".node", { has: page.locator(".splits") });
    expect(await marked.count()).toBe(2);
    expect(await marked.first().textContent()).toContain("to=SJC");
    expect(await marked.first().textContent()).toContain("n=2mean 0.00 below the group's mean");
    expect(await marked.last().textContent()).toContain("to=SJO");
    const first = page.locator(".place", { hasText: "diverges here" });
    await first.waitFor();
    expect(await first.locator("del").textContent()).toBe("[-SJC-]");
    expect(await first.locator("ins").textContent()).toBe("[+SJO+]");
    expect(await first.locator(".cell .figure").allTextContents()).toEqual(["−0.50", "0.50"]);
    await page.close();
  });

  test("sides, run and keys are in the link; n and N walk the calls that differ; a side opens its trajectory", async () => {
    const page = await open(`${path()}?by=dag`);
    await pairs(page).first().waitFor();
    await page.keyboard.press("b");
    await page.locator("select:focus").selectOption({ label: "#4 flight-4, reward 1.00" });
    await page.waitForURL(`**?by=dag&b=${ids["flight-4"]}`);
    await page.getByRole("button", { name: "compare #3 as A" }).click();
    await page.waitForURL(`**?by=dag&a=${ids["flight-3"]}&b=${ids["flight-4"]}`);
    await page.locator(".who", { hasText: "#3 flight-3" }).waitFor();
    const here = () => page.locator(".pair.current .sign").first().textContent();
    await page.locator("h1").click();
    await page.keyboard.press("n");
    await expect.poll(here).toContain("differs");
    await page.keyboard.press("n");
    await expect.poll(here).toContain("only in B");
    await page.keyboard.press("Shift+N");
    await expect.poll(here).toContain("differs");
    await page.locator(".pair.current").getByRole("link").first().click();
    await page.waitForURL(`**/t/${ids["flight-3"]}?span=s2&by=dag`);
    await page.getByRole("heading", { name: "flight-3" }).waitFor();
    await page.keyboard.press("g");
    await page.waitForURL(`**/g/${flights}?by=dag&a=${ids["flight-3"]}`);
    await page.close();
  });

  test("in the list x selects, c compares two of one group, g opens the group", async () => {
    const page = await open(`/p/default/trajectories?run=${dag}`);
    await page.locator(".cover").first().waitFor();
    await page.waitForLoadState("networkidle"); // rows stand where they stay
    await page.keyboard.press("c");
    await page.getByText("Select two rows with x").waitFor();
    for (const key of ["j", "x", "j", "x"]) await page.keyboard.press(key);
    expect(await page.locator(".tr.chosen").count()).toBe(2);
    await page.keyboard.press("c");
    await page.waitForURL(`**/g/${flights}?by=${dag}&a=${ids["flight-4"]}&b=${ids["flight-3"]}`);
    await page.goBack();
    await page.locator(".cover").first().waitFor();
    await expect // keys are heard once the list has been painted
      .poll(async () => {
        await page.keyboard.press("j");
        return page.locator(".tr:focus-within").count();
      })
      .toBe(1);
    await page.keyboard.press("g");
    await page.waitForURL(`**/g/${flights}?by=${dag}&a=${ids["flight-4"]}`);
    await page.close();
  });
});

test("rollouts of two groups are not compared, a group of one has no sibling, an unknown group is named", async () => {
  const project = unique("two");
  const rows = [rollout("one", "g1", 1, [["look", { at: "A" }]]), rollout("other", "g2", 0, [["look", { at: "B" }]])];
  await upload(server, rows.join("\n"), "two.jsonl", project);
  const page = await open(`/p/${project}/trajectories`);
  await page.locator(".cover").first().waitFor();
  await page.waitForLoadState("networkidle");
  for (const key of ["j", "x", "j", "x", "c"]) await page.keyboard.press(key);
  await page.getByText("Not of one group: g2 and g1.").waitFor();
  await page.keyboard.press("g");
  await page.getByText("A group of one has no sibling to stand beside.").waitFor();
  expect(await paragraph(page).textContent()).toBe("No split matters: fewer than two of these rollouts have a reward.");
  await page.goto(`${server.url}/p/${project}/g/nothing`);
  await page.getByText("Looked for: group nothing").waitFor();
  await page.close();
});

test("hostile names and arguments are text, and a group of very many keeps the page small", async () => {
  const project = unique("many");
  const bad = "<img src=x onerror=alert(1)>\u202e";
  const rows = Array.from({ length: 300 }, (_, n) =>
    rollout(`r${n}${bad}`, `g${bad}`, n % 2, [
      ["look", { at: `${bad}${n % 7}` }],
      [`take${bad}`, { what: n, note: bad }],
    ]),
  );
  await upload(server, rows.join("\n"), "many.jsonl", project);
  const own = await browser.newContext({ viewport: { width: 900, height: 900 } });
  const seen = await watch(own, server.url);
  const page = await own.newPage();
  await page.goto(`${server.url}/p/${project}/groups`, { waitUntil: "networkidle" });
  expect(await page.locator(".groupspage .figure").first().textContent()).toBe("300");
  await page.locator(".cover").click();
  await pairs(page).first().waitFor();
  await page.getByText("Tree and split are of 200 of 300 rollouts").waitFor();
  expect(await page.locator("*").count()).toBeLessThan(2500);
  expect(await page.locator("img").count()).toBe(0);
  expect(await page.locator("h1").textContent()).toContain("⟦U+202E⟧");
  expect(seen).toEqual({ dialogs: [], offOrigin: [], violations: [], errors: [] });
  await own.close();
});

describe("for everybody", () => {
  for (const colorScheme of ["light", "dark"] as const) {
    test.each([
      ["groups", () => "/p/default/groups", ".cover"],
      ["group", () => `${path()}?by=dag`, ".pair"],
    ])(`axe finds nothing serious: %s, ${colorScheme}`, async (_, to, ready) => {
      const own = await browser.newContext({ viewport: { width: 1440, height: 900 }, colorScheme });
      const page = await own.newPage();
      await page.goto(server.url + to());
      await page.locator(ready).first().waitFor();
      const { violations } = await new AxeBuilder({ page }).analyze();
      const serious = violations.filter((found) => found.impact === "serious" || found.impact === "critical");
      expect(serious.map((found) => [found.id, found.nodes.map((node) => node.html.slice(0, 200))])).toEqual([]);
      await own.close();
    });
  }
});
