/** T01, T02: nothing in a log acts on whoever reads it. */

import { createServer, type Server as Listener } from "node:http";
import type { AddressInfo } from "node:net";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { inline, visible } from "../src/pure/visible";
import { launch } from "./browser.mjs";
import { canonical, payloads, trajectory } from "./hostile.mjs";
import { score, upload } from "./server.mjs";
import { watch } from "./watch";

const server = { ...inject("served").server, stop: async () => {} };
const hits: string[] = [];
let listener: Listener;
let browser: Browser;
let beacon: string;

beforeAll(async () => {
  listener = createServer((request, answer) => {
    hits.push(request.url ?? "");
    answer.end();
  });
  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
  beacon = `http://127.0.0.1:${(listener.address() as AddressInfo).port}`;
  browser = await launch();
});

afterAll(async () => {
  await browser.close();
  listener.close();
});

test("T01 T02 50 payloads in every field of the log fire nothing on any screen", { timeout: 400_000 }, async () => {
  const project = `<img src="${beacon}/project" onerror=alert(1)>`;
  const all = payloads(beacon);
  expect(all.length).toBeGreaterThanOrEqual(40);
  const log = all.map((payload, i) => JSON.stringify(trajectory(payload, i))).join("\n");
  const chat = await upload(server, log, "<b onclick=alert(1)>.jsonl", project);
  const ownLog = all.map((payload, i) => JSON.stringify(canonical(payload, i))).join("\n");
  const own = await upload(server, ownLog, `${all[0]}.jsonl`, project);
  expect([Object.keys(chat).length, Object.keys(own).length]).toEqual([all.length, all.length]);
  await score(server, "grpo", project, { dataset: all[3] });
  await score(server, "grpo", project);
  const dag = await score(server, "dag", project);

  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  const seen = await watch(context, server.url);
  const page = await context.newPage();
  const at = (path: string) => `${server.url}/p/${encodeURIComponent(project)}/${path}`;
  await page.goto(at("trajectories?run=dag"));
  await page.locator(".cover").first().waitFor();
  for (const name of ["tool", "group"]) {
    await page.getByRole("combobox", { name }).click();
    await page.locator(".options").getByRole("option").first().waitFor();
    await page.keyboard.press("Escape");
  }
  await scrollThrough(page);
  for (const [i, id] of Object.values(chat).entries()) {
    await page.goto(at(`t/${encodeURIComponent(id)}?by=${dag}&vs=grpo&span=s3`));
    await page.locator(".panel .edgeitem").first().waitFor();
    const shown = page.locator(`[data-span="1"] .body`);
    await expect.poll(() => shown.textContent()).toBe(visible(`${all[i]} please use ITN-${48000 + i}`));
  }
  for (const [i, id] of Object.values(own).entries()) {
    const payload = all[i] as string;
    await page.goto(at(`t/${encodeURIComponent(id)}?by=${dag}&span=s6`));
    await page.locator(".panel .edgeitem .reason", { hasText: "explicit" }).waitFor();
    expect(await page.getByRole("region", { name: "Fed by" }).textContent()).toContain(inline(payload));
    await page.keyboard.press("Escape");
    await page.locator(".panel .facts").waitFor();
    const told = (await page.locator(".panel").textContent()) ?? "";
    expect(told.split(inline(payload)).length).toBeGreaterThan(6);
  }
  await page.keyboard.press("b");
  await page
    .getByRole("dialog")
    .locator(".choices button", { hasText: inline(all[3] as string) })
    .waitFor();
  await page.locator(".scorenow summary").click();
  await page
    .locator(".scorenow details input")
    .first()
    .fill(all[4] as string);
  await page.getByRole("button", { name: "Score all trajectories" }).click();
  await page.locator(".scorenow .trouble").waitFor();
  await page.goto(at("exports?run=dag&tokenizer=byte-level"));
  await page.locator(".token").first().waitFor();
  await page.getByRole("combobox", { name: "trajectory" }).click();
  await page.locator(".options").getByRole("option").first().waitFor();
  await page.goto(at("exports?run=dag"));
  await page.getByRole("region", { name: "Failed alignments" }).getByRole("link").first().waitFor();
  await page.goto(at("runs"));
  await page.getByText(inline(all[3] as string), { exact: true }).waitFor();
  await page.goto(at("runs/dag"));
  await page.locator(".run .of a").first().waitFor();
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: "go to or do" }).fill("<");
  await page.locator(".palette").getByRole("option").first().waitFor();
  await page.goto(at(`t/${encodeURIComponent(Object.values(chat)[0] as string)}?q=${encodeURIComponent("<")}&occ=1`));
  await page.locator("mark.strong").waitFor();
  await page.goto(at("upload"));
  await page.locator("input[type=file]").setInputFiles({
    name: `<img src="${beacon}/file" onerror=alert(1)>.jsonl`,
    mimeType: "application/jsonl",
    buffer: Buffer.from(`${log}\n${ownLog}\n${JSON.stringify({ messages: all })}`),
  });
  await page.locator(".filereport tbody tr").first().waitFor();
  await page.waitForLoadState("networkidle");

  expect(seen).toEqual({ dialogs: [], offOrigin: [], violations: [], errors: [] });
  expect(hits).toEqual([]);
  expect(context.pages().length).toBe(1);
  await context.close();
});

/** Draws every row of the list once. */
async function scrollThrough(page: Page): Promise<void> {
  const last = page.getByRole("row", { name: /^0 / });
  await page.locator(".table .scroll").hover();
  await expect
    .poll(async () => {
      await page.mouse.wheel(0, 600);
      return last.count();
    })
    .toBeGreaterThan(0);
}
