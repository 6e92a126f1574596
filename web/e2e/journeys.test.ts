/** What people come for, on the wrong-flight booking: ui.md section 7. */

import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { launch } from "./browser.mjs";
import { pool } from "./server.mjs";

const { server, ids, grpo, dag } = inject("served");
const failed = `/p/default/t/${ids["flight-1"]}`;
const SEARCH = 2;
const WEATHER = 4;
let browser: Browser;
let context: BrowserContext;

beforeAll(async () => {
  browser = await launch();
  context = await browser.newContext({
    viewport: { width: 1440, height: 900 },
    permissions: ["clipboard-read", "clipboard-write"],
  });
});

afterAll(() => browser.close());

async function open(path: string): Promise<Page> {
  const page = await context.newPage();
  await page.goto(server.url + path);
  return page;
}

const row = (page: Page, span: number) => page.locator(`[data-span="${span}"]`);
const figures = (page: Page, span: number) => row(page, span).locator(".figure").allTextContents();
const headline = (page: Page) => page.locator(".headline").first();

async function selected(page: Page, span: number | null): Promise<void> {
  if (span === null) return void (await page.locator(".span.selected").waitFor({ state: "detached" }));
  await row(page, span).and(page.locator(".selected")).waitFor();
}

describe("the wrong flight", () => {
  test("1 the list leads to the failed rollout, and flat credit says that it cannot tell", async () => {
    const page = await open("/p/default/trajectories?run=grpo");
    await page.getByRole("link", { name: "flight-1", exact: true }).click();
    await headline(page).waitFor();
    expect(await headline(page).textContent()).toContain("flat: every action span gets");
    for (const span of [SEARCH, WEATHER, 6, 8, 10]) expect(await figures(page, span)).toEqual(["−0.50"]);
    await page.close();
  });

  test("2 dag gives the weather call exactly 0 and blames the rest", async () => {
    const page = await open(`${failed}?by=grpo`);
    await page.getByRole("button", { name: /^by/ }).click();
    await page.getByRole("dialog").getByRole("button", { name: /^dag/ }).first().click();
    await page.waitForURL(`**by=${dag}*`);
    await row(page, WEATHER).getByText("exactly 0").waitFor();
    expect(await figures(page, WEATHER)).toEqual(["0.00"]);
    expect(await row(page, WEATHER).getAttribute("aria-label")).toContain("zero");
    for (const span of [SEARCH, 6, 8, 10]) expect(await figures(page, span)).toEqual(["−0.50"]);
    expect(await row(page, 3).locator(".hatch").count()).toBe(1);
    expect(await headline(page).textContent()).toContain("exactly 0");
    await page.close();
  });

  test("3 the search call shows what it rests on, what rests on it, and both sides of the matched value", async () => {
    const page = await open(`${failed}?by=dag&span=none`);
    await row(page, SEARCH).click();
    await selected(page, SEARCH);
    const standing = (span: number) => row(page, span).getAttribute("class");
    expect(await standing(1)).toContain("ancestor");
    for (const span of [3, 6, 7, 8, 9, 10]) expect(await standing(span)).toContain("descendant");
    for (const span of [0, WEATHER, 5]) expect(await standing(span)).toContain("apart");
    const here = row(page, SEARCH).locator("mark", { hasText: "2026-05-03" });
    const there = row(page, 1).locator("mark", { hasText: "3 May 2026" });
    await here.waitFor();
    expect(await there.getAttribute("class")).toBe(await here.getAttribute("class"));
    await page.getByRole("region", { name: "Fed by" }).getByRole("listitem").first().hover();
    await row(page, SEARCH).locator("mark.strong").waitFor();
    expect(await row(page, 1).locator("mark.strong").textContent()).toBe("3 May 2026");
    await page.mouse.move(0, 0);
    const throughResult = page.getByRole("region", { name: "Feeds" }).getByText("through s3").first();
    await throughResult.waitFor();
    expect(await row(page, 6).locator("mark").textContent()).toBe("ITN-48213");
    await page.close();
  });

  test("the terms of Why add up to the printed credit", async () => {
    const page = await open(`${failed}?by=dag&span=s${SEARCH}`);
    const sum = page.getByRole("region", { name: "Why" }).locator("table.sum");
    const numbers = async (part: string) =>
      (await sum.locator(`${part} .figure`).allTextContents()).map((text) => Number(text.replace("−", "-")));
    await sum.waitFor();
    const terms = await numbers("tbody");
    expect(terms.reduce((total, term) => total + term, 0)).toBeCloseTo((await numbers("tfoot"))[0] ?? Number.NaN);
    await page.close();
  });

  test("4 two runs stand side by side on one scale, with how far they agree", async () => {
    const page = await open(`${failed}?by=dag`);
    await page.getByRole("button", { name: /^beside/ }).click();
    await page.getByRole("dialog").getByRole("button", { name: /^grpo/ }).first().click();
    await page.waitForURL(`**vs=${grpo}*`);
    await page.locator(".agreement").waitFor();
    expect(await figures(page, WEATHER)).toEqual(["0.00", "−0.50"]);
    expect(await page.locator(".heads .runname").allTextContents()).toEqual([
      expect.stringMatching(/^dag #\d+$/),
      expect.stringMatching(/^grpo #\d+$/),
    ]);
    expect(await page.locator(".heads .scale").allTextContents()).toEqual(["bars to ±0.50", "bars to ±0.50"]);
    expect(await page.locator(".agreement").textContent()).toContain("sign agreement80 %");
    await page.keyboard.press("d");
    await page.waitForURL("**diff=1*");
    await expect.poll(() => figures(page, WEATHER)).toEqual(["0.50"]);
    await page.close();
  });

  test("5 a copied link opens the same view elsewhere", async () => {
    const page = await open(`${failed}?by=dag&vs=grpo&span=s6&fold=result&scale=one`);
    await selected(page, 6);
    await page.locator(".agreement").waitFor();
    await page.keyboard.press("y");
    await page.getByText("Link to this view copied.").waitFor();
    const link = await page.evaluate(() => navigator.clipboard.readText());
    expect(link).toContain(`by=${dag}`);
    const elsewhere = await browser.newContext({ viewport: { width: 1440, height: 900 } });
    const other = await elsewhere.newPage();
    await other.goto(link);
    await selected(other, 6);
    for (const part of [".headlines", ".heads", ".transcript .rows", ".panel"]) {
      await expect.poll(() => other.locator(part).textContent()).toBe(await page.locator(part).textContent());
    }
    await elsewhere.close();
    await page.close();
  });
});

describe("around it", () => {
  test("every key of the sheet does what it says", async () => {
    const page = await open(`${failed}?by=dag&span=s${SEARCH}`);
    await headline(page).waitFor();
    await selected(page, SEARCH);
    const press = async (key: string, span: number | null) => {
      await page.keyboard.press(key);
      await selected(page, span);
    };
    await press("j", 3);
    await press("k", SEARCH);
    await press("]", 6);
    await press("[", SEARCH);
    await press("i", 3);
    await press("i", 6);
    await press("u", 3);
    await press("Backspace", 6);
    await press("Backspace", 3);
    await press("Backspace", SEARCH);
    await page.keyboard.press("f");
    await page.waitForURL("**fold=think*");
    await page.keyboard.press("b");
    await page.getByRole("dialog", { name: /^by/ }).waitFor();
    await page.keyboard.press("Escape");
    await page.keyboard.press("Shift+B");
    await page.getByRole("dialog", { name: /^beside/ }).waitFor();
    await page.keyboard.press("Escape");
    await page.keyboard.press("?");
    await page.getByRole("heading", { name: "Keys" }).waitFor();
    await page.keyboard.press("Escape");
    await page.locator("dialog").waitFor({ state: "detached" });
    await press("Escape", null);
    await page.close();
  });

  test("nothing chosen: the failed rollout opens on the first span that dag blames", async () => {
    const page = await open(failed);
    await selected(page, SEARCH);
    expect(await page.locator(".panel h2").textContent()).toContain("search_flights");
    await page.close();
  });

  test("another attributor is scored from here and shown", async () => {
    const page = await open(`${failed}?by=dag`);
    await page.getByRole("button", { name: /^by/ }).click();
    await page.locator(".scorenow select").first().selectOption("rloo");
    await page.getByRole("button", { name: "Score all trajectories" }).click();
    await page.locator(".heads", { hasText: "rloo" }).waitFor();
    expect(await figures(page, SEARCH)).toEqual(["−0.67"]);
    await page.close();
  });

  test("a run that asks a critic is started from here, and its terms add up", async () => {
    const project = `pool-${Date.now()}`;
    const some = await pool(server, project);
    const page = await open(`/p/${project}/t/${some.g0r1}?span=s4`);
    await page.getByRole("button", { name: /^by/ }).click();
    const chooser = page.getByRole("dialog");
    await page.locator(".scorenow select").first().selectOption("doubly_robust");
    await chooser.getByRole("button", { name: "Score all trajectories" }).click();
    await page.waitForURL(/[?&]by=/);
    const why = page.getByRole("region", { name: "Why" });
    await why.getByText("forecast of this choice").waitFor();
    await why.getByText("forecasts of the whole run").waitFor();
    const sum = await why.locator("tbody .figure").allTextContents();
    const whole = sum.map((text) => Number(text.replace("−", "-"))).reduce((a, b) => a + b, 0);
    const credit = Number((await why.locator("tfoot .figure").first().textContent())?.replace("−", "-"));
    expect(Math.abs(whole - credit)).toBeLessThan(0.005 * (sum.length + 1));
    expect(await headline(page).textContent()).toContain("is what the critic's forecasts leave unexplained");
    await page.getByRole("button", { name: /^by/ }).click();
    await chooser.getByText(/, critic compatible \(fingerprint [0-9a-f]{12}\)/).waitFor();
    await page.close();
  });

  test("what is not there is named, and an unknown run too", async () => {
    const nowhere = await open("/p/default/t/nobody");
    await nowhere.getByRole("heading", { name: "Not here" }).waitFor();
    await nowhere.getByText("Looked for: trajectory nobody").waitFor();
    await nowhere.goto(`${server.url}${failed}?by=oracle`);
    await nowhere.locator(".trouble", { hasText: "oracle" }).waitFor();
    await row(nowhere, SEARCH).waitFor();
    await nowhere.close();
  });

  test("filters narrow the list and live in the URL", async () => {
    const page = await open("/p/default/trajectories");
    await page.getByLabel("outcome").selectOption("fail");
    await page.waitForURL("**outcome=fail*");
    await expect
      .poll(() =>
        page
          .locator(".cover")
          .allTextContents()
          .then((all) => all.sort()),
      )
      .toEqual(["flight-1", "flight-3"]);
    await page.getByLabel("id", { exact: true }).fill("nothing-like-it");
    await page.getByText("No trajectory matches").waitFor();
    await page.getByRole("button", { name: "Clear the filters" }).click();
    await expect.poll(() => page.locator(".cover").count()).toBe(4);
    await page.close();
  });
});

describe("upload", () => {
  const log = (id: string, said: string) =>
    JSON.stringify({
      trajectory_id: id,
      group_id: "g",
      reward: 1,
      messages: [
        { role: "user", content: "hello" },
        { role: "assistant", content: said },
      ],
    });
  const file = (text: string, name = "runs.jsonl") => ({
    name,
    mimeType: "application/jsonl",
    buffer: Buffer.from(text),
  });

  test("an empty project says how to fill it; a file is reported line by line; the same again changes nothing", async () => {
    const fresh = `fresh-${Date.now()}`;
    const page = await open(`/p/${fresh}/trajectories`);
    await page.getByRole("heading", { name: "No trajectories yet" }).waitFor();
    expect(await page.locator(".command code").textContent()).toContain(
      `${server.url}/api/v1/trajectories?project=${fresh}`,
    );
    await page.getByRole("link", { name: "Upload logs" }).click();
    const send = async (text: string, report: string | RegExp) => {
      await page.locator("input[type=file]").setInputFiles(file(text));
      await page.locator(".filereport").first().getByText(report).first().waitFor();
    };
    await send(`${log("a", "hi")}\n{"messages": 7}\n`, "1 created, 1 rejected");
    expect(await page.locator(".filereport").first().locator("tbody tr").first().textContent()).toContain("rejected");
    await send(`${log("a", "hi")}\n{"messages": 7}\n`, "1 duplicate, 1 rejected");
    await send(`${log("a", "changed")}\n{"messages": 7}\n`, "1 conflict, 1 rejected");
    await page.getByRole("button", { name: "Replace 1 trajectory" }).click();
    await page.locator(".filereport").first().getByText("1 replaced, 1 rejected").waitFor();
    await page.getByRole("link", { name: "Look at them" }).click();
    await page.getByRole("link", { name: "a", exact: true }).waitFor();
    await page.close();
  });
});
