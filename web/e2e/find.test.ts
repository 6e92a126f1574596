/** Find in the transcript, the strip beside it, long texts; and 20,000 spans: ui.md section 7, journey 10. */

import AxeBuilder from "@axe-core/playwright";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { launch } from "./browser.mjs";
import { call, chain, score, upload } from "./server.mjs";

const { server: served, ids } = inject("served");
const server = { ...served, stop: async () => {} };
const failed = `/p/default/t/${ids["flight-1"]}`;
const PROJECT = `find-${Date.now()}`;
let browser: Browser;
let some: Record<string, string>;

/** One result of 300,000 characters, of which a page loads the ends; what is looked for is in the middle of it. */
const LONG = `${"row 1234567890\n".repeat(10_000)}the needle is here${"\nrow 1234567890".repeat(10_000)}`;

beforeAll(async () => {
  browser = await launch();
  const spoken = Array.from({ length: 300 }, (_, i) => [
    { role: "user", content: `question ${i}` },
    { role: "assistant", content: i % 50 === 7 ? "a needle in it" : "nothing of interest" },
  ]).flat();
  const long = [
    { role: "user", content: "read it" },
    {
      role: "assistant",
      content: null,
      tool_calls: [{ id: "c", type: "function", function: { name: "read_file", arguments: "{}" } }],
    },
    { role: "tool", tool_call_id: "c", content: LONG },
    { role: "assistant", content: "done" },
  ];
  const rows = [
    { trajectory_id: "spoken", group_id: "g", reward: 1, messages: spoken },
    { trajectory_id: "long", group_id: "g", reward: 0, messages: long },
  ];
  some = await upload(server, rows.map((row) => JSON.stringify(row)).join("\n"), "find.jsonl", PROJECT);
  await score(server, "grpo", PROJECT);
});

afterAll(() => browser.close());

async function open(path: string): Promise<Page> {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  await page.goto(server.url + path);
  return page;
}

const row = (page: Page, span: number) => page.locator(`[data-span="${span}"]`);
const box = (page: Page) => page.getByRole("textbox", { name: "find in the transcript" });
const said = (page: Page) => page.locator(".find").getByRole("status");
const inView = (page: Page, selector: string) =>
  page.locator(selector).evaluate((mark) => {
    const [own, window] = [mark.getBoundingClientRect(), mark.closest(".scroll")?.getBoundingClientRect()];
    return window !== undefined && own.top >= window.top && own.bottom <= window.bottom;
  });

describe("find", () => {
  test("goes through all of the transcript, also what is not loaded, round and round, and is a link", async () => {
    const page = await open(`/p/${PROJECT}/t/${some.spoken}?span=none`);
    await row(page, 0).locator(".body").waitFor();
    await page.keyboard.press("/");
    await page.keyboard.type("NEEDLE");
    await expect.poll(() => said(page).textContent()).toBe("6 hits in 6 spans");
    await page.keyboard.press("Enter");
    await page.waitForURL("**q=NEEDLE*occ=1*");
    await row(page, 15).locator("mark.strong", { hasText: "needle" }).waitFor();
    await page.keyboard.press("Enter");
    await row(page, 115).locator("mark.strong").waitFor();
    await expect.poll(() => inView(page, "mark.strong")).toBe(true);
    expect(await said(page).textContent()).toBe("2 of 6");
    await row(page, 115).focus();
    await page.keyboard.press("n");
    await row(page, 215).locator("mark.strong").waitFor();
    for (const span of [115, 15, 515]) {
      await page.keyboard.press("Shift+N");
      await row(page, span).locator("mark.strong").waitFor();
    }
    expect(await page.locator(".minimap .ticks").getAttribute("d")).toMatch(/^(M9 \d+h3v1h-3z){6}$/);
    const same = await open(new URL(page.url()).pathname + new URL(page.url()).search);
    await row(same, 515).locator("mark.strong").waitFor();
    expect(await said(same).textContent()).toBe("6 of 6");
    await same.close();
    await box(page).focus();
    await page.keyboard.press("Escape");
    await page.waitForURL((url) => !url.search.includes("q="));
    await expect.poll(() => page.locator("mark").count()).toBe(0);
    await page.close();
  });

  test("a link that names a hit alone shows it", async () => {
    const page = await open(`/p/${PROJECT}/t/${some.spoken}?q=needle&occ=3`);
    await row(page, 215).and(page.locator(".selected")).locator("mark.strong").waitFor();
    await page.close();
  });

  test("Ctrl-F comes here; nothing found and the name of a tool are said too", async () => {
    const page = await open(`${failed}?by=dag&span=s0`);
    await row(page, 0).locator(".body").waitFor();
    await page.keyboard.press("Control+f");
    expect(await box(page).evaluate((input) => input === document.activeElement)).toBe(true);
    await page.keyboard.type("London");
    await expect.poll(() => said(page).textContent()).toBe("no hit");
    await box(page).fill("search_fl");
    await page.keyboard.press("Enter");
    await row(page, 2).locator(".name.hit.now").waitFor();
    await expect.poll(() => said(page).textContent()).toMatch(/^1 of \d+$/);
    await page.close();
  });

  test("the middle of a long text is found, fetched and shown, and all of it on request", async () => {
    const page = await open(`/p/${PROJECT}/t/${some.long}?span=s0`);
    await row(page, 2).locator(".body").waitFor();
    await page.keyboard.press("/");
    await page.keyboard.type("the needle");
    await page.keyboard.press("Enter");
    await row(page, 2).locator("mark.strong", { hasText: "the needle" }).waitFor();
    await expect.poll(() => inView(page, "mark.strong")).toBe(true);
    const gap = row(page, 2)
      .getByRole("button", { name: /show all [\d,]+ more characters/, includeHidden: true })
      .first();
    await gap.click();
    await expect
      .poll(() =>
        row(page, 2)
          .locator(".body")
          .evaluate((body) => body.textContent?.length ?? 0),
      )
      .toBeGreaterThan(150_000);
    await page.close();
  });

  for (const colorScheme of ["light", "dark"] as const) {
    test(`axe finds nothing serious while one looks for something, ${colorScheme}`, async () => {
      const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, colorScheme });
      const page = await context.newPage();
      await page.goto(`${server.url}${failed}?by=dag&q=ITN-48213&occ=2`);
      await page.locator("mark.strong").waitFor();
      const { violations } = await new AxeBuilder({ page }).analyze();
      const serious = violations.filter((found) => found.impact === "serious" || found.impact === "critical");
      expect(serious.map((found) => [found.id, found.nodes.map((node) => node.html.slice(0, 200))])).toEqual([]);
      await context.close();
    });
  }
});

test("the strip beside the transcript jumps where it is pressed and shows what is in view", async () => {
  const page = await open(`/p/${PROJECT}/t/${some.spoken}?span=none`);
  await row(page, 0).locator(".body").waitFor();
  await page.locator(".headline").first().waitFor();
  await page.locator(".panel .facts").waitFor();
  const strip = page.locator(".minimap");
  const size = await strip.boundingBox();
  expect(size?.width).toBeGreaterThanOrEqual(12);
  await strip.click({ position: { x: 6, y: (size?.height ?? 0) / 2 } });
  await row(page, 300).waitFor();
  const window = await strip
    .locator(".window")
    .evaluate((box) => Number(box.getAttribute("y")) + Number(box.getAttribute("height")) / 2);
  expect(window).toBeGreaterThan(110);
  expect(window).toBeLessThan(130);
  await page.close();
});

test("10 a trajectory of 20,000 spans stays within what can be counted", { timeout: 180_000 }, async () => {
  const project = `${PROJECT}-large`;
  const { long: id } = await upload(server, `${chain("long", 9999)}\n${chain("short", 3, 1)}`, "large.jsonl", project);
  await score(server, "dag", project);
  const skeleton = await fetch(`${server.url}/api/v1/trajectories/${id}?project=${project}`);
  const bytes = (await skeleton.arrayBuffer()).byteLength;
  console.log(`20,000 spans: skeleton of ${(bytes / 20_000).toFixed(0)} bytes a span`);
  expect(bytes).toBeLessThanOrEqual(150 * 20_000);
  const page = await open(`/p/${project}/t/${id}?by=dag`);
  const most: number[] = [];
  const look = async () => most.push(await page.evaluate(() => document.querySelectorAll("*").length));
  await row(page, 0).locator(".body").waitFor();
  await look();
  await page.goto(`${server.url}/p/${project}/t/${id}?by=dag&span=s10000`);
  await row(page, 10_000).locator(".body").waitFor();
  await look();
  await page.keyboard.press("/");
  await page.keyboard.type("NODE-109998");
  await page.keyboard.press("Enter");
  await page.locator("mark.strong").waitFor();
  await look();
  await row(page, 19_997).waitFor();
  const graph = await call(server, `/trajectories/${id}/graph?project=${project}`);
  expect(graph.child.length).toBeGreaterThan(19_000);
  console.log(`20,000 spans: elements ${most.join(", ")}`);
  expect(Math.max(...most)).toBeLessThanOrEqual(2500);
  await page.close();
});
