/** What can be counted: bytes, elements, requests, accessibility findings. */

import { readdir, readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import AxeBuilder from "@axe-core/playwright";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { launch } from "./browser.mjs";
import { chain, DEMO, late, score, upload } from "./server.mjs";
import { watch } from "./watch";

const { server: served, ids } = inject("served");
const server = { ...served, stop: async () => {} };
const failed = `/p/default/t/${ids["flight-1"]}`;
const BUILT = fileURLToPath(new URL("../../trajcredit/web", import.meta.url));
const LATE = `late-${Date.now()}`;
let browser: Browser;

beforeAll(async () => {
  browser = await launch();
  await late(server, LATE);
});

afterAll(() => browser.close());

test("the first load is at most 180 kB of gzipped JavaScript, from no other place, without inline code", async () => {
  const index = await readFile(`${BUILT}/index.html`, "utf8");
  const scripts = (await readdir(`${BUILT}/assets`)).filter((name) => name.endsWith(".js"));
  const first = scripts.filter((name) => index.includes(`/assets/${name}"`));
  expect(first.length).toBeGreaterThan(0);
  const size = async (names: string[]) => {
    const sizes = await Promise.all(
      names.map(async (name) => gzipSync(await readFile(`${BUILT}/assets/${name}`)).length),
    );
    return sizes.reduce((sum, one) => sum + one, 0);
  };
  const [now, all] = [await size(first), await size(scripts)];
  console.log(
    `JavaScript: ${(now / 1000).toFixed(1)} kB gz at first, ${(all / 1000).toFixed(1)} kB gz with every screen`,
  );
  expect(now).toBeLessThanOrEqual(180_000);
  expect(index).not.toMatch(/https?:|<style|<script(?![^>]*\bsrc=)|\son\w+=/);
});

describe("accessibility", () => {
  const screens: Record<string, [string, (page: Page) => Promise<unknown>]> = {
    list: ["/p/default/trajectories?run=dag", (page) => page.locator(".cover").first().waitFor()],
    trajectory: [`${failed}?by=dag&vs=grpo&span=s2`, (page) => page.locator(".panel .edgeitem").first().waitFor()],
    overview: [`${failed}?by=grpo`, (page) => page.locator(".panel .facts").waitFor()],
    chooser: [
      `${failed}?by=dag`,
      async (page) => {
        await page.getByRole("button", { name: /^by/ }).click();
        await page.getByRole("dialog").waitFor();
      },
    ],
    suggestions: [
      "/p/default/trajectories",
      async (page) => {
        await page.getByRole("combobox", { name: "tool" }).click();
        await page.keyboard.press("ArrowDown");
        await page.locator(".options").getByRole("option").first().waitFor();
      },
    ],
    stale: [`/p/${LATE}/t/ext:open?by=dag`, (page) => page.locator(".headline .stale").waitFor()],
    exports: [
      "/p/default/exports?run=dag&to=verl&tokenizer=byte-level",
      (page) => page.locator(".token").first().waitFor(),
    ],
    notfound: ["/p/default/runs/nobody", (page) => page.locator(".trouble").waitFor()],
    missing: ["/p/default/t/nobody", (page) => page.locator(".trouble").waitFor()],
    upload: [
      "/p/default/upload",
      async (page) => {
        await page.locator("input[type=file]").setInputFiles(DEMO);
        await page.locator(".filereport tbody tr").first().waitFor();
      },
    ],
    empty: ["/p/nobody/trajectories", (page) => page.locator(".command").waitFor()],
  };

  for (const colorScheme of ["light", "dark"] as const) {
    test.each(Object.entries(screens))(`axe finds nothing serious: %s, ${colorScheme}`, async (_, [path, ready]) => {
      const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, colorScheme });
      const page = await context.newPage();
      await page.goto(server.url + path);
      await ready(page);
      const { violations } = await new AxeBuilder({ page }).analyze();
      const serious = violations.filter((found) => found.impact === "serious" || found.impact === "critical");
      expect(serious.map((found) => [found.id, found.nodes.map((node) => node.html.slice(0, 200))])).toEqual([]);
      await context.close();
    });
  }
});

test("no screen asks anything of another place, breaks the content policy or throws", async () => {
  const context = await browser.newContext({ viewport: { width: 900, height: 900 } });
  const seen = await watch(context, server.url);
  const page = await context.newPage();
  for (const path of [
    "/",
    `${failed}?by=dag&vs=grpo`,
    "/p/default/exports?tokenizer=byte-level",
    "/p/default/upload",
    "/p/default/runs",
    "/p/default/runs/dag",
    `${failed}?by=dag&q=ITN&occ=1`,
  ]) {
    await page.goto(server.url + path, { waitUntil: "networkidle" });
  }
  expect(seen).toEqual({ dialogs: [], offOrigin: [], violations: [], errors: [] });
  await context.close();
});

test("2,000 spans never make more than 2,500 elements", { timeout: 120_000 }, async () => {
  const { long: id } = await upload(server, `${chain("long", 999)}\n${chain("short", 3, 1)}`, "long.jsonl", "big");
  await score(server, "dag", "big");
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  const page = await context.newPage();
  const elements = () => page.evaluate(() => document.querySelectorAll("*").length);
  const start = performance.now();
  await page.goto(`${server.url}/p/big/t/${id}?by=dag`);
  await page.locator(`[data-span="0"] .body`).waitFor();
  console.log(`2,000 spans: opened in ${((performance.now() - start) / 1000).toFixed(2)} s`);
  const most = [await elements()];
  await page.goto(`${server.url}/p/big/t/${id}?by=dag&span=s1000`);
  await page.locator(`[data-span="1000"] .body`).waitFor();
  most.push(await elements());
  await page.locator(`[data-span="1000"]`).hover();
  await page.mouse.wheel(0, 1_000_000);
  await page.locator(`[data-span="1999"]`).waitFor();
  most.push(await elements());
  console.log(`elements: ${most.join(", ")}`);
  expect(Math.max(...most)).toBeLessThanOrEqual(2500);
  await context.close();
});
