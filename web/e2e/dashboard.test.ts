/** The dashboard shows what the API says, every mark leads on, and what is missing is said. */

import AxeBuilder from "@axe-core/playwright";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { share } from "../src/pure/dashboard";
import { signed } from "../src/pure/format";
import { launch } from "./browser.mjs";
import { call, pool, score, upload } from "./server.mjs";
import { type Seen, watch } from "./watch";

const { server: served, ids, dag, grpo } = inject("served");
const server = { ...served, stop: async () => {} };
/** Panels are asked for all at once, of a server that may have others to serve. */
const SLOW = { timeout: 20_000 };
const POOL = `dash-${Date.now()}`;
let browser: Browser;
let context: BrowserContext;
let seen: Seen;

beforeAll(async () => {
  browser = await launch();
  await pool(server, POOL);
  await upload(server, steps(), "steps.jsonl", POOL);
  await score(server, "grpo", POOL);
  await score(server, "dag", POOL);
  await score(server, "rtg", POOL, { parameters: { gamma: 0.5 } });
  const body = JSON.stringify({ trajectory_id: "ext:g0r1", span_index: 3, verdict: "culprit", labeller: "ann" });
  await call(server, `/labels?project=${POOL}`, { method: "POST", body });
  context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  seen = await watch(context, server.url);
});

afterAll(() => browser.close());

/** Two groups at step 5 that never pass, one rollout of each too long for its tenth; one mixed group at step 6. */
function steps(): string {
  const row = (group: string, i: number, step: number, reward: number) =>
    JSON.stringify({
      id: `${group}-${i}`,
      group_id: group,
      step,
      reward,
      messages: [
        { role: "user", content: "say it" },
        { role: "assistant", content: "word ".repeat(3 + i) },
      ],
    });
  const lost = ["lost", "gone"].flatMap((group) => [0, 1].map((i) => row(group, i, 5, 0)));
  return [...lost, row("half", 0, 6, 0), row("half", 1, 6, 1)].join("\n");
}

async function open(path: string): Promise<Page> {
  const page = await context.newPage();
  await page.goto(server.url + path);
  return page;
}

const card = (page: Page, title: string) => page.locator("section", { has: page.locator("h2", { hasText: title }) });
const minus = (text: string | null) => (text ?? "").replaceAll("−", "-");
const two = (value: number) => value.toFixed(2);
const ask = (panel: string, query = "") => call(server, `/dashboard/${panel}?project=${POOL}${query}`);

test("numbers on screen are the API's", async () => {
  const page = await open(`/p/${POOL}/dash`);
  const rewards = await ask("rewards", "&limit=20");
  const rows = card(page, "Reward by group").locator(".rewardrows li");
  await rows.first().waitFor();
  expect(await rows.count()).toBe(rewards.items.length);
  const means = await rows.locator(".figure:nth-child(2)").allTextContents();
  expect(means.map((text) => text.split(" ")[0])).toEqual(rewards.items.map((row: { mean: number }) => two(row.mean)));
  expect(await rows.locator("a.rolloutdot").count()).toBe(rewards.scored);

  const variance = await ask("variance");
  const zero = card(page, "Groups without variance");
  await zero.locator(".columns").waitFor();
  expect(await zero.locator(".bignumber").textContent()).toBe(`${Math.round(100 * variance.share.value)} %`);
  expect(await zero.locator(".badge").count()).toBe(Number(variance.flagged));
  expect(await zero.locator(".column").count()).toBe(variance.bins.length);
  expect(await zero.locator(".column").first().getAttribute("aria-label")).toBe(
    "step 5: 100 % of 2 groups, 0 all pass, 2 all fail, flagged",
  );

  const { points } = await ask("passk");
  const passk = card(page, "pass@k").locator("tbody tr");
  expect(await passk.locator("td:nth-child(3)").allTextContents()).toEqual(
    points.map((point: { value: number }) => point.value.toFixed(3)),
  );
  expect(await passk.locator("td:nth-child(6)").allTextContents()).toEqual(
    points.map((point: { left_out: number }) => String(point.left_out)),
  );

  const length = await ask("length");
  const bias = card(page, "Length bias");
  await bias.locator("tbody tr").first().waitFor();
  expect(Number(minus(await bias.locator(".bignumber").textContent()))).toBeCloseTo(length.within.mean.value, 2);
  const credits = await bias.locator("tbody td:nth-child(5)").allTextContents();
  expect(credits).toEqual(length.deciles.map((tenth: { credit: number }) => signed(tenth.credit)));

  const tools = await ask("tools");
  const table = card(page, "Credit by tool").locator("tbody tr");
  await table.first().waitFor();
  expect(await table.locator("th").allTextContents()).toEqual(tools.items.map((tool: { tool: string }) => tool.tool));
  expect(await table.locator("td:nth-child(6)").allTextContents()).toEqual(
    tools.items.map((tool: { calls: number }) => String(tool.calls)),
  );

  const agreement = await ask("agreement");
  const cells = card(page, "Agreement of attributors").locator(".heat");
  await cells.first().waitFor();
  const figures = agreement.pairs.map((pair: { value: number | null }) =>
    pair.value === null ? "flat" : two(pair.value),
  );
  expect((await cells.allTextContents()).map((text) => minus(text.split("n ")[0] ?? "").trim()).sort()).toEqual(
    figures.sort(),
  );

  const offpath = await ask("offpath");
  const shares = card(page, "Credit off the path").locator("tbody td:nth-child(3)");
  expect(await shares.allTextContents()).toEqual(
    offpath.items.map((row: { share: number }) => `${Math.round(100 * row.share)} %`),
  );

  const grades = await call(server, `/labels/grades?project=${POOL}`);
  expect(grades.labelled).toBe(1);
  const hits = card(page, "Attributors against labels").locator("tbody td:nth-child(3)");
  await hits.first().waitFor();
  expect(await hits.allTextContents()).toEqual(
    grades.runs.map((run: { hit_at_1: { value: number | null } }) =>
      run.hit_at_1.value === null ? "–" : share(run.hit_at_1.value),
    ),
  );
  await page.close();
});

test("marks lead to the list, the group and the rollout; the filter is in the link and leads back", async () => {
  const page = await open(`/p/${POOL}/dash`);
  await card(page, "Groups without variance").locator(".column").first().click();
  await page.locator(".cover").first().waitFor();
  expect(new URL(page.url()).search).toBe("?step_min=5&step_max=5");
  expect(await page.locator(".cover").count()).toBe(4);
  await page.goBack();
  await card(page, "Credit by tool").getByRole("link", { name: "order" }).click();
  await page.locator(".cover").first().waitFor();
  expect(new URL(page.url()).searchParams.get("tool")).toBe("order");
  await page.goBack();
  await page.getByLabel("step from").fill("6");
  await card(page, "Groups without variance").getByText("0 of 1 group").waitFor();
  expect(new URL(page.url()).search).toBe("?step=6..");
  await card(page, "Reward by group").locator("a.rolloutdot.pass").click();
  await page.locator('[data-span="0"]').waitFor();
  await page.goBack();
  await card(page, "Groups without variance").getByText("0 of 1 group").waitFor();
  await page.getByRole("button", { name: "clear" }).click();
  await card(page, "Groups without variance")
    .getByText(/ of 13 groups/)
    .waitFor();
  await page.close();
});

test("runs are chosen, and a cell opens the rollout on which two agree least", async () => {
  const page = await open("/p/default/dash");
  await page.locator(".runpicker summary").click();
  await page.getByRole("checkbox", { name: "grpo #1" }).check();
  await card(page, "Agreement of attributors").getByText("a second finished run").waitFor();
  expect(new URL(page.url()).searchParams.get("run")).toBe(grpo);
  await page.getByRole("checkbox", { name: "dag #2" }).check();
  await card(page, "Agreement of attributors").getByText("flat", { exact: true }).waitFor();
  expect(new URL(page.url()).searchParams.get("run")).toBe(`${grpo},${dag}`);
  expect(await card(page, "Credit by tool").locator("p b").first().textContent()).toBe("grpo #1");
  await page.goto(`${server.url}/p/${POOL}/dash`);
  const cell = card(page, "Agreement of attributors").locator(".heat a").first();
  const said = await cell.textContent();
  await cell.click();
  await page.locator(".agreement").waitFor();
  expect(said).toContain(`furthest apart on ${await page.locator(".title h1").textContent()}`);
  await page.close();
});

test("an empty project and one without runs say what each panel needs", async () => {
  const page = await open("/p/nobody/dash");
  await expect.poll(() => page.locator(".needs").count(), SLOW).toBe(8);
  const project = `open-${Date.now()}`;
  await upload(server, JSON.stringify({ id: "r", messages: [{ role: "user", content: "hi" }] }), "r.jsonl", project);
  await page.goto(`${server.url}/p/${project}/dash`);
  await expect
    .poll(() => page.locator(".needs").allTextContents(), SLOW)
    .toContain("Needs a finished run: score the project first (trajcredit run dag, or a new run on screen).");
  await page.close();
});

test.each(["light", "dark"] as const)(
  "axe finds nothing serious, %s, and nothing is asked of another place",
  async (colorScheme) => {
    const own = await browser.newContext({ viewport: { width: 900, height: 900 }, colorScheme });
    const watched = await watch(own, server.url);
    const page = await own.newPage();
    for (const path of colorScheme === "light" ? [`/p/${POOL}/dash`, "/p/nobody/dash"] : [`/p/${POOL}/dash`]) {
      await page.goto(server.url + path, { waitUntil: "networkidle" });
      await expect.poll(() => page.locator("[aria-busy=true]").count(), SLOW).toBe(0);
      const { violations } = await new AxeBuilder({ page }).analyze();
      const serious = violations.filter((found) => found.impact === "serious" || found.impact === "critical");
      expect(serious.map((found) => [found.id, found.nodes.map((node) => node.html.slice(0, 200))])).toEqual([]);
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(900);
      expect(await page.evaluate(() => document.querySelectorAll("*").length)).toBeLessThanOrEqual(2500);
    }
    expect(watched).toEqual({ dialogs: [], offOrigin: [], violations: [], errors: [] });
    expect(seen).toEqual({ dialogs: [], offOrigin: [], violations: [], errors: [] });
    await own.close();
  },
);

test("the demo of one group is shown whole", async () => {
  const page = await open("/p/default/dash");
  const dots = card(page, "Reward by group").locator("a.rolloutdot");
  await dots.first().waitFor();
  const links = await dots.evaluateAll((all) => all.map((one) => one.getAttribute("href")?.split("/").at(-1)));
  expect(links.sort()).toEqual(Object.values(ids).sort());
  await page.close();
});
