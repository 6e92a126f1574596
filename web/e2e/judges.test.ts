/** Judges: asked, told as they go on, trusted or not, heard by a run; nothing they write acts on whoever reads it. */

import AxeBuilder from "@axe-core/playwright";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { inline, visible } from "../src/pure/visible";
import { launch } from "./browser.mjs";
import { payloads } from "./hostile.mjs";
import { call, opine, pool } from "./server.mjs";
import { watch } from "./watch";

const server = { ...inject("served").server, stop: async () => {} };
const PROJECT = `judges-${Date.now()}`;
/** Never listened on: a request to it would be seen by the page. */
const BEACON = "http://127.0.0.1:9";
const REASON = payloads(BEACON).join("\n");
let browser: Browser;
let context: BrowserContext;
let rules: string;
let mine: string;

beforeAll(async () => {
  browser = await launch();
  context = await browser.newContext({ viewport: { width: 1440, height: 900 }, acceptDownloads: true });
  await pool(server, PROJECT);
});

afterAll(() => browser.close());

async function open(path: string): Promise<Page> {
  const page = await context.newPage();
  await page.goto(`${server.url}/p/${encodeURIComponent(PROJECT)}/${path}`);
  return page;
}

describe("a judging", () => {
  test("is started here, ends, warns, opens in a trajectory and is heard by a run", async () => {
    const page = await open("judges");
    await page.getByText("No judge was asked yet.").waitFor();
    await page.getByRole("button", { name: "New judging" }).click();
    await page.locator(".judgenow select").selectOption("llm");
    await page.getByText("this server has none").waitFor();
    expect(await page.getByRole("button", { name: "Judge all trajectories" }).isDisabled()).toBe(true);
    await page.locator(".judgenow select").selectOption("rules");
    await page.getByRole("button", { name: "Judge all trajectories" }).click();
    await page.waitForURL("**/judges/j_*");
    rules = new URL(page.url()).pathname.split("/").at(-1) ?? "";
    await page.locator(".judgestate", { hasText: "40 judged, of 40 trajectories" }).waitFor();
    const warned = page.getByRole("list", { name: "Warnings" }).getByRole("listitem");
    await warned.first().waitFor();
    expect(await warned.allTextContents()).toEqual([
      expect.stringMatching(/^Warning worse than the base rate: Brier score of its scores 0\.525/),
      expect.stringMatching(/^Note not told from the base rate/),
    ]);
    const auc = page.getByRole("row", { name: /^AUC/ });
    expect((await auc.getByRole("cell").allTextContents()).slice(0, 2)).toEqual(["0.500", "[0.500, 0.500]"]);
    const curve = page.getByRole("img", { name: /^Reliability curve, Scores as they are/ });
    expect(await curve.getAttribute("aria-label")).toContain("mean score 1.000, 0.475 passed of 40 trajectories");
    expect(await curve.locator("circle").count()).toBe(1);
    await page.getByText("Asked again: not told, since the judge was asked once").waitFor();

    await page.getByRole("link", { name: /^Score with it: rules/ }).click();
    await page.waitForURL("**/runs?new=judge*");
    expect(await page.locator(".beyond input").inputValue()).toBe(rules);
    await page.getByRole("button", { name: "Score all trajectories" }).click();
    await page.locator(".runstate", { hasText: "done" }).waitFor();
    const run = await call(server, `/runs/judge?project=${PROJECT}`);
    expect([run.judge, run.state]).toEqual([rules, "done"]);

    await page.goto(`${server.url}/p/${PROJECT}/t/ext:g0r3?span=s4`);
    const said = page.getByRole("region", { name: "Opinions" });
    await said.getByText("1.00 of 0 to 1").waitFor();
    expect(await said.getByRole("link", { name: "rules" }).getAttribute("href")).toBe(`/p/${PROJECT}/judges/${rules}`);
    await page.close();
  });

  test("is had as a file, one row a trajectory", async () => {
    const page = await open(`judges/${rules}`);
    const download = page.waitForEvent("download");
    await page.getByRole("link", { name: /^Opinions, JSON lines, of rules/ }).click();
    expect((await download).suggestedFilename()).toBe(`${rules}.jsonl`);
    await page.close();
  });

  test("is stopped and gone on with, and its progress is said in words too", async () => {
    const real = await call(server, `/judgings/${rules}?project=${PROJECT}`);
    const page = await context.newPage();
    let now = { ...real, state: "running", judged: 12, missing: 3, finished: null };
    const asked: string[] = [];
    await page.route(/\/api\/v1\/judgings\/[^/]+\?/, (route) => route.fulfill({ json: now }));
    await page.route(/\/api\/v1\/judgings\/[^/]+\/(cancel|resume)\?/, (route) => {
      const verb = /(cancel|resume)/.exec(new URL(route.request().url()).pathname)?.[1] ?? "";
      asked.push(verb);
      now = { ...now, state: verb === "cancel" ? "cancelled" : "queued" };
      return route.fulfill({ json: now });
    });
    await page.goto(`${server.url}/p/${PROJECT}/judges/${rules}`);
    await page.getByText("12 judged, 3 could not be judged, 25 not asked about yet, of 40 trajectories").waitFor();
    expect(await page.getByRole("progressbar").getAttribute("value")).toBe("15");
    await page.getByText("Reliability is told once the judging ends.").waitFor();
    await page.getByRole("button", { name: /^Cancel rules/ }).click();
    await page.locator(".judgestate", { hasText: "cancelled" }).waitFor();
    await page.getByRole("button", { name: /^Resume rules/ }).click();
    await page.locator(".judgestate", { hasText: "queued" }).waitFor();
    now = { ...real };
    await page.locator(".judgestate", { hasText: "done" }).waitFor();
    expect(asked).toEqual(["cancel", "resume"]);
    await page.close();
  });

  test("is held against another by a link, in bins of either kind", async () => {
    mine = await opine(server, PROJECT, REASON);
    const page = await open(`judges/${mine}?against=${rules}`);
    await page.getByRole("row", { name: /^with rules: ranks/ }).waitFor();
    const circles = page.getByRole("img", { name: /Scores as they are/ }).locator("circle");
    const wide = await circles.count();
    await page.getByLabel("bins").selectOption("count");
    await page.waitForURL("**bins=count*");
    await expect.poll(() => circles.count()).not.toBe(wide);
    await page.close();
  });

  test("that is not there is named", async () => {
    const page = await open("judges/j_nobody");
    await page.getByText("Looked for: judging j_nobody").waitFor();
    await page.getByRole("link", { name: "Judges" }).click();
    await page.locator(".judgename").first().waitFor();
    await page.keyboard.press("j");
    expect(await page.evaluate(() => document.activeElement?.className)).toBe("judgename");
    await page.keyboard.press("?");
    await page.getByRole("dialog").getByText("next, previous row").waitFor();
    await page.close();
  });
});

test("T01 what a judge wrote is read and never acts: its name, its reason, why it could not judge", async () => {
  const name = `<img src="${BEACON}/name" onerror=alert(1)>\u202e`;
  const own = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  const seen = await watch(own, server.url);
  const page = await own.newPage();
  await opine(server, PROJECT, REASON, name);
  await page.goto(`${server.url}/p/${PROJECT}/t/ext:g0r3?span=s4`);
  const said = page.getByRole("region", { name: "Opinions" });
  const reason = said.locator(".reason").first();
  await expect.poll(() => reason.textContent()).toBe(visible(REASON));
  expect(await said.locator("img, script, svg, iframe, form, style").count()).toBe(0);
  expect(await said.textContent()).toContain(inline(name));
  await page.goto(`${server.url}/p/${PROJECT}/t/ext:g9r3?span=s4`);
  await expect.poll(() => said.locator(".none").first().textContent()).toBe(`Not judged: ${visible(REASON)}`);
  await page.goto(`${server.url}/p/${PROJECT}/judges`);
  await page.getByRole("link", { name: inline(`file:${name}`), exact: true }).click();
  await page.locator(".curve svg").first().waitFor();
  expect(seen).toEqual({ dialogs: [], offOrigin: [], violations: [], errors: [] });
  await own.close();
});

test("axe finds nothing serious in judgings, a judging and opinions, in both themes, at 900 px", async () => {
  const own = await browser.newContext({ viewport: { width: 900, height: 900 } });
  const page = await own.newPage();
  const check = async (what: string) => {
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      const { violations } = await new AxeBuilder({ page }).analyze();
      const serious = violations.filter((found) => found.impact === "serious" || found.impact === "critical");
      const found = serious.map(({ id, nodes }) => [id, nodes.map((node) => node.html.slice(0, 200))]);
      expect([what, colorScheme, found]).toEqual([what, colorScheme, []]);
    }
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(900);
  };
  await page.goto(`${server.url}/p/${PROJECT}/judges`);
  await page.getByRole("button", { name: "New judging" }).click();
  await page.locator(".judgetable tbody tr").first().waitFor();
  await check("judgings");
  await page.goto(`${server.url}/p/${PROJECT}/judges/${rules}`);
  await page.locator(".curve svg").first().waitFor();
  await check("judging");
  await page.goto(`${server.url}/p/${PROJECT}/t/ext:g0r3?span=s4`);
  await page.locator(".opinions .reason").first().waitFor();
  await check("opinions");
  await own.close();
});
