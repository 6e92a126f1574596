/** What the trainer will see, before it is written: ui.md section 7, journey 8. */

import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { Browser, BrowserContext, Download, Page } from "playwright-core";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { launch } from "./browser.mjs";
import { call, score, upload } from "./server.mjs";
import { watch } from "./watch";

const { server: served, ids, dag } = inject("served");
const server = { ...served, stop: async () => {} };
const TRACES = fileURLToPath(new URL("../../tests/data/verifiers_traces.jsonl", import.meta.url));
const unique = (name: string) => `${name}-${Date.now()}`;
let browser: Browser;
let context: BrowserContext;

beforeAll(async () => {
  browser = await launch();
  context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
});

afterAll(() => browser.close());

async function open(path: string): Promise<Page> {
  const page = await context.newPage();
  await page.goto(server.url + path);
  return page;
}

const figure = (page: Page, name: string) =>
  page.locator(".totals div", { has: page.locator("dt", { hasText: name }) }).locator("dd");
const saved = async (download: Download) => readFile(await download.path());
const commandOf = (page: Page) => page.locator(".command code").first().textContent();

test("8 the preview says what the API counts, token by token, and the file is the API's", async () => {
  const page = await open("/p/default/trajectories?run=dag");
  await page.getByRole("link", { name: "Export preview" }).click();
  await page.getByLabel("exporter").selectOption("verl");
  await page.getByText("the log has no token ids: pass a tokenizer").first().waitFor();
  expect(await page.getByRole("button", { name: /^Download/ }).isDisabled()).toBe(true);
  await page.getByRole("button", { name: "use jsonl" }).click();
  await page.getByText("One row a span").last().waitFor();
  await page.goBack();
  await page.getByLabel("tokenizer").selectOption("byte-level");
  await page.locator(".token").first().waitFor();
  expect(new URL(page.url()).search).toBe("?run=dag&to=verl&tokenizer=byte-level");

  const api = await call(server, "/exports/preview?run=dag&to=verl&tokenizer=byte-level");
  const { totals, advantage_mean } = api;
  for (const name of ["trajectories", "rows", "tokens", "trained"]) {
    expect(await figure(page, name).first().textContent()).toBe(totals[name].toLocaleString("en"));
  }
  const mean = Number((await figure(page, "sum(adv").textContent())?.replace("−", "-"));
  expect(mean).toBe(Number(advantage_mean.toPrecision(4)));
  expect(await figure(page, "alignment").allTextContents()).toEqual([
    `exact ${totals.exact}`,
    `re-tokenised ${totals.retokenized}`,
    `failed ${totals.failed}`,
  ]);

  const row = api.rows[0];
  const call0 = page.locator(".tokenline", { has: page.getByRole("link", { name: "s2" }) });
  const own = row.spans.flatMap((span: number, i: number) => (span === 2 ? [row.texts[i].replaceAll("\n", "↵")] : []));
  expect(await call0.locator(".token.made").allTextContents()).toEqual(own);
  const advantage = row.advantages[row.spans.indexOf(2)];
  expect(await call0.locator(".figure").textContent()).toBe(advantage.toFixed(2).replace("-", "−"));
  const fold = page.getByRole("button", { name: /^\[result 252 masked\]$/ });
  expect(row.mask.slice(0, own.length + 252 + 1)).toEqual([...Array(own.length).fill(1), ...Array(252).fill(0), 1]);
  const shown = await page.locator(".token").count();
  await fold.click();
  await expect.poll(() => page.locator(".token").count()).toBe(shown + 252);
  const prompt = page.locator(".tokenline", { hasText: `[prompt ${row.prompt_tokens} masked]` });
  await prompt.getByRole("button").click();
  const end = row.prompt_texts.map((text: string) => text.replaceAll("\n", "↵"));
  expect(await prompt.locator(".token").allTextContents()).toEqual(end);

  await page.getByLabel("exporter").selectOption("tokens");
  await page.getByLabel("share").selectOption("last");
  await page.locator(".tokenline", { hasText: "1 token" }).first().waitFor();
  const name = `dag-${(await call(server, `/runs/${dag}`)).number}.jsonl`;
  const taken = page.waitForEvent("download");
  await page.getByRole("button", { name: `Download ${name}` }).click();
  const query = "to=tokens:share=last&tokenizer=byte-level";
  const file = await (await fetch(`${server.url}/api/v1/runs/${dag}/export?${query}`)).text();
  expect((await saved(await taken)).toString()).toBe(file);
  const { database } = await (await fetch(`${server.url}/healthz`)).json();
  expect(await commandOf(page)).toBe(
    `trajcredit export --db ${database} --run ${dag} --to tokens:share=last --tokenizer FOLDER/byte-level -o ${name}`,
  );

  await page.getByRole("link", { name: "s2", exact: true }).first().click();
  await page.locator('[data-span="2"].selected').waitFor();
  expect(new URL(page.url()).searchParams.get("by")).toBe(dag);
  await page.close();
});

test("trajectories that do not align are left out on request alone, and lead to the span", async () => {
  const project = unique("traces");
  await upload(server, await readFile(TRACES, "utf8"), "traces.jsonl", project);
  await score(server, "grpo", project);
  const page = await open(`/p/${project}/exports?p.misaligned=drop`);
  const take = page.getByRole("button", { name: /^Download/ });
  await page.getByText("tick the box first").waitFor();
  expect(await figure(page, "alignment").allTextContents()).toEqual(["exact 3", "re-tokenised 0", "failed 1"]);
  expect([await take.isDisabled(), await commandOf(page)]).toEqual([true, expect.not.stringContaining("misaligned")]);
  expect(await page.locator(".token").allTextContents()).toEqual(["#10", "#11", "#31"]);
  await page.getByLabel("leave out 1 trajectory that does not align").check();
  expect(await commandOf(page)).toContain("--to tokens:misaligned=drop");
  const taken = page.waitForEvent("download");
  await take.click();
  const lines = (await saved(await taken)).toString().trim().split("\n");
  expect(lines.map((line) => JSON.parse(line).trajectory_id)).toEqual(["tr-1"]);
  await page.getByRole("link", { name: "tr-1:branch-1, turn 1, s3" }).click();
  await page.locator('[data-span="3"].selected').waitFor();
  await page.close();
});

test("thousands of hostile tokens come in windows, fire nothing and make few elements", async () => {
  const project = unique("hostile");
  const bad = `<img src=x onerror=alert(1)>\u202e`;
  const log = [0, 1].map((reward) => ({
    trajectory_id: `${bad}${reward}`,
    group_id: "g",
    reward,
    messages: [
      { role: "user", content: "go" },
      { role: "assistant", content: bad.repeat(150) },
    ],
  }));
  await upload(server, log.map((one) => JSON.stringify(one)).join("\n"), "bad.jsonl", project);
  await score(server, "grpo", project);
  const own = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  const seen = await watch(own, server.url);
  const page = await own.newPage();
  await page.goto(`${server.url}/p/${project}/exports?tokenizer=byte-level`);
  await page.locator(".token").first().waitFor();
  expect(await page.locator(".tokentext").first().textContent()).toContain("⟦U+202E⟧");
  const elements = () => page.evaluate(() => document.querySelectorAll("*").length);
  expect(await elements()).toBeLessThanOrEqual(2500);
  await page.getByRole("button", { name: "next 2,000" }).click();
  await page.waitForURL("**from=2000*");
  await page.locator('.token[title^="token 2000,"]').waitFor();
  await page.getByRole("region", { name: "Tokens of the row" }).hover();
  await page.mouse.wheel(0, 100_000);
  await expect.poll(() => page.locator('.token[title^="token 2000,"]').count()).toBe(0);
  expect(await elements()).toBeLessThanOrEqual(2500);
  expect(await page.getByRole("button", { name: "previous 2,000" }).isEnabled()).toBe(true);
  expect(seen).toEqual({ dialogs: [], offOrigin: [], violations: [], errors: [] });
  await own.close();
});

test("e leads there from the list and from a trajectory, with what was looked at", async () => {
  const page = await open(`/p/default/t/${ids["flight-3"]}?by=grpo`);
  await page.locator(".headline").first().waitFor();
  await page.keyboard.press("e");
  await page.waitForURL("**/exports?**");
  expect(new URL(page.url()).searchParams.get("trajectory")).toBe(ids["flight-3"]);
  await page.getByRole("button", { name: /^run grpo/ }).waitFor();
  await page.goBack();
  await page.getByRole("link", { name: "Trajectories" }).click();
  await page.locator(".cover").first().waitFor();
  await page.keyboard.press("e");
  await page.waitForURL("**/exports");
  await page.close();
});

test("no run, no tokenizer, no tokens, a wrong parameter, an unknown trajectory: each says so", async () => {
  const page = await open("/p/nobody/exports");
  await page.getByRole("heading", { name: "Nothing to export yet" }).waitFor();
  await page.route("**/api/v1/tokenizers", (route) => route.fulfill({ json: { items: [] } }));
  await page.goto(`${server.url}/p/default/exports?run=dag`);
  await page.getByText("trajcredit serve --tokenizers FOLDER").waitFor();
  await page.goto(`${server.url}/p/default/exports?run=dag&to=jsonl`);
  const rows = (await (await fetch(`${server.url}/api/v1/runs/${dag}/export?to=jsonl`)).text()).trim().split("\n");
  await page.getByText(`${rows.length} rows`).waitFor();
  expect(await page.getByRole("button", { name: /^Download/ }).isEnabled()).toBe(true);
  await page.goto(`${server.url}/p/default/exports?run=dag&to=verl&p.max_tokens=1`);
  await page.locator(".trouble", { hasText: "parameter max_tokens=1: expected a whole number of 2 or more" }).waitFor();
  await page.goto(`${server.url}/p/default/exports?run=oracle`);
  await page.locator(".trouble", { hasText: "oracle" }).waitFor();
  await page.goto(`${server.url}/p/default/exports?run=dag&to=nobody`);
  await page.locator(".trouble", { hasText: "nobody: no such exporter" }).waitFor();
  await page.goto(`${server.url}/p/default/exports?run=dag&tokenizer=byte-level&trajectory=ext:none`);
  await page.locator(".trouble", { hasText: "none" }).waitFor();
  await page.getByRole("combobox", { name: "trajectory" }).fill("flight-4");
  await page.locator(".token").first().waitFor();
  await page.waitForURL("**trajectory=ext%3Aflight-4*");
  await page.close();
});
