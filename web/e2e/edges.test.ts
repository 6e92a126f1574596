/** Where things are missing, late, alone or gone: ui.md section 7, (11) and (12). */

import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { launch } from "./browser.mjs";
import { demo, late, newFolder, removeFolder, score, serve, upload } from "./server.mjs";

const server = { ...inject("served").server, stop: async () => {} };
const { ids, dag, grpo } = inject("served");
const failed = `/p/default/t/${ids["flight-1"]}`;
const unique = (name: string) => `${name}-${Date.now()}`;
let browser: Browser;

beforeAll(async () => {
  browser = await launch();
});

afterAll(() => browser.close());

async function open(path: string, url = server.url): Promise<Page> {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  await page.goto(url + path);
  return page;
}

const row = (page: Page, span: number) => page.locator(`[data-span="${span}"]`);
const headline = (page: Page, said: string | RegExp) => page.locator(".headline", { hasText: said }).waitFor();

test("11 a server that stops leaves what is shown, says so, and is found again when it is back", async () => {
  const folder = await newFolder();
  let own = await serve(folder, 0);
  const { ids: flights } = await demo(own);
  const page = await open(`/p/default/t/${flights["flight-1"]}?by=dag&span=none`, own.url);
  await row(page, 10).locator(".body").waitFor();
  await own.stop();
  await row(page, 6).click();
  const banner = page.getByText("The server does not answer.");
  await banner.waitFor();
  expect(await row(page, 2).textContent()).toContain("search_flights");
  expect(await row(page, 2).locator(".figure").textContent()).toBe("−0.50");
  await page.getByRole("button", { name: "Retry" }).click();
  await banner.waitFor();
  own = await serve(folder, Number(new URL(own.url).port));
  await page.getByRole("button", { name: "Retry" }).click();
  await banner.waitFor({ state: "detached" });
  await page.getByRole("region", { name: "Why" }).locator("tfoot").getByText("−0.50").waitFor();
  await page.close();
  await own.stop();
  await removeFolder(folder);
});

test("11 a screen whose code was not there yet says that it cannot be shown, and is there after a reload", async () => {
  const folder = await newFolder();
  let own = await serve(folder, 0);
  await demo(own);
  const page = await open("/p/default", own.url);
  const groups = page.getByRole("link", { name: "Groups" });
  await groups.waitFor();
  await own.stop();
  await groups.click();
  await page.getByText("This part could not be shown.").waitFor();
  await groups.waitFor();
  own = await serve(folder, Number(new URL(own.url).port));
  await page.getByRole("button", { name: "Reload" }).click();
  await page.locator(".groupspage .tr").first().waitFor();
  await page.close();
  await own.stop();
  await removeFolder(folder);
});

describe("12", () => {
  const log = (id: string, group: string, messages: object[], reward?: number) =>
    JSON.stringify({ trajectory_id: id, group_id: group, ...(reward === undefined ? {} : { reward }), messages });
  const user = { role: "user", content: "hello" };
  const assistant = { role: "assistant", content: "hi" };

  test("one span, no reward, alone in its group: each says why there is no number", async () => {
    const project = unique("few");
    const lines = [
      log("one", "g1", [user], 1),
      log("open", "g2", [user, assistant]),
      log("alone", "g3", [user, assistant], 1),
      log("won", "g4", [user, assistant], 1),
      log("lost", "g4", [user, assistant], 0),
    ];
    const few = await upload(server, lines.join("\n"), "few.jsonl", project);
    await score(server, "grpo", project);
    const one = await open(`/p/${project}/t/${few.one}`);
    await headline(one, "no action spans in this trajectory");
    expect(await one.locator("[data-span]").count()).toBe(1);
    await one.close();
    const unscored = await open(`/p/${project}/t/${few.open}`);
    await headline(unscored, "not scored: it has no reward");
    await unscored.locator(".title", { hasText: "no reward yet" }).waitFor();
    await unscored.getByText("Nothing of this trajectory is scored by it.").waitFor();
    expect(await row(unscored, 1).locator(".figure").textContent()).toBe("–");
    await unscored.close();
    const alone = await open(`/p/${project}/t/${few.alone}`);
    await headline(alone, "alone in its group");
    expect(await row(alone, 1).locator(".figure").textContent()).toBe("0.00");
    await alone.close();
  });

  test("a project without runs shows the log and offers to score it", async () => {
    const project = unique("unscored");
    const { a } = await upload(server, log("a", "g", [user, assistant], 1), "a.jsonl", project);
    const page = await open(`/p/${project}/t/${a}`);
    await headline(page, "Not scored yet");
    await row(page, 1).getByText("hi").waitFor();
    await page.getByRole("button", { name: /^by/ }).click();
    await page.getByRole("button", { name: "Score all trajectories" }).click();
    await headline(page, "alone in its group");
    await page.close();
  });
});

test("a reward and a trajectory that came after a run are told apart, and scoring again is at hand", async () => {
  const project = unique("late");
  const found = await late(server, project);
  const page = await open(`/p/${project}/t/${found.open}?by=dag`);
  await headline(page, "its reward came after this run had read its inputs");
  await headline(page, "Stale: a reward came later.");
  await page.goto(`${server.url}/p/${project}/t/${found.after}?by=dag`);
  await headline(page, "stored after this run had begun");
  expect(await row(page, 1).locator(".figure").textContent()).toBe("–");
  await page.getByRole("button", { name: "score again" }).click();
  await page
    .getByRole("dialog")
    .getByText(/stale: a reward came later/)
    .waitFor();
  await page.getByRole("button", { name: "Score all trajectories" }).click();
  await page.locator(".heads", { hasText: "dag #2" }).waitFor();
  await expect.poll(() => row(page, 1).locator(".figure").textContent()).toMatch(/^0\.\d\d$/);
  expect(await page.locator(".headline .stale").count()).toBe(0);
  await page.close();
});

test("a span's number in the other runs stands beside it, and a run that names no one is told from one that blames", async () => {
  const page = await open(`${failed}?by=${dag}&span=s4`);
  const others = page.getByRole("region", { name: "Other runs" });
  const line = others.getByRole("row", { name: /^grpo #\d+ / });
  await line.waitFor();
  expect(await line.locator(".figure").textContent()).toBe("−0.50");
  await page.getByText("No path leads from this span to the outcome").waitFor();
  await page.goto(`${server.url}/p/default/trajectories?run=${grpo}`);
  const listed = page.getByRole("row", { name: /flight-1/ });
  await listed.getByText("all −0.50").waitFor();
  await page.close();
});

test("the bars of advantages have the scale of advantages", async () => {
  const page = await open(`${failed}?by=${dag}&show=advantage`);
  await expect.poll(() => page.locator(".heads .scale").allTextContents()).toEqual(["bars to ±0.87"]);
  expect(await row(page, 2).locator(".figure").textContent()).toBe("−0.87");
  await page.getByLabel("scale").selectOption("dataset");
  await page.waitForURL("**scale=dataset*");
  await page.locator(".heads .scale", { hasText: "bars to ±0.87" }).waitFor();
  await page.close();
});

test("the boxes of the list offer the tools and groups there are, by keyboard too", async () => {
  const page = await open("/p/default/trajectories");
  const tool = page.getByRole("combobox", { name: "tool" });
  await tool.fill("get");
  const options = page.locator(".options").getByRole("option");
  await expect.poll(() => options.allTextContents()).toEqual(["get_weather"]);
  await tool.press("ArrowDown");
  expect(await options.first().getAttribute("aria-selected")).toBe("true");
  await tool.press("Enter");
  await page.waitForURL("**tool=get_weather*");
  await expect.poll(() => page.locator(".cover").count()).toBe(2);
  await page.getByRole("combobox", { name: "group" }).click();
  await page.getByRole("option", { name: "denver-sanjose" }).click();
  await page.waitForURL("**group=denver-sanjose*");
  await page.close();
});
