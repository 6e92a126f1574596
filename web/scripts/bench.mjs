/**
 * The times a reader waits, each beside the same of a trajectory of 200 spans in the same run, and how busy the machine
 * was: npm run bench. Times of a machine that does other things say little; their ratios say more.
 */

import { loadavg } from "node:os";
import { launch } from "../e2e/browser.mjs";
import { call, chain, score, startServer, upload } from "../e2e/server.mjs";

/** @typedef {import("playwright-core").Page} Page */
/** @typedef {Record<string, number>} Measured */

const SIZES = [200, 2000, 20_000];
/** Spans -> what ui.md section 6 allows, in the units below; sizes that are not named have no budget. */
const BUDGETS = {
  "open, ms": { 2000: 1000, 20000: 3000 },
  "select to paint, ms": { 2000: 100, 20000: 150 },
  "scroll p95 frame, ms": { 20000: 32 },
  "heap, MB": { 20000: 200 },
  "skeleton p95, ms": { 2000: 150 },
};
const LIST_BUDGET = 150;
const TIMES = 5;
const SELECTIONS = 15;

/** @param {number[]} values @param {number} part */
function quantile(values, part) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? Number.NaN;
}

/** From the request to a transcript that has its texts and its credit. @param {Page} page @param {string} url */
async function opened(page, url) {
  const times = [];
  for (let i = 0; i < TIMES; i++) {
    await page.goto("about:blank");
    const start = performance.now();
    await page.goto(url, { waitUntil: "commit" });
    await page.locator('[data-span="0"] .body', { hasText: "walk the chain" }).waitFor();
    await page.locator('[data-span="1"] .figure').first().waitFor();
    times.push(performance.now() - start);
  }
  return quantile(times, 0.5);
}

/** From a key that selects the next span to the frame that shows it. @param {Page} page */
async function selected(page) {
  await page.locator('[data-span="1"]').click();
  const times = [];
  for (let i = 0; i < SELECTIONS; i++) {
    times.push(
      await page.evaluate(
        () =>
          new Promise((resolve) => {
            const start = performance.now();
            const before = document.querySelector(".span.selected");
            dispatchEvent(new KeyboardEvent("keydown", { key: "j", bubbles: true }));
            const look = () => {
              if (document.querySelector(".span.selected") === before) requestAnimationFrame(look);
              else requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - start)));
            };
            look();
          }),
      ),
    );
  }
  return quantile(times, 0.5);
}

/** Frames while a wheel turns through the transcript. @param {Page} page */
async function scrolled(page) {
  const frames = await page.evaluate(async () => {
    const box = document.querySelector(".transcript .scroll");
    const step = Math.min(400, (box?.scrollHeight ?? 0) / 120);
    const times = [];
    let before = await new Promise(requestAnimationFrame);
    for (let i = 0; i < 120; i++) {
      box?.scrollBy(0, step);
      const now = await new Promise(requestAnimationFrame);
      times.push(now - before);
      before = now;
    }
    return times;
  });
  return quantile(frames, 0.95);
}

/** Megabytes of JavaScript objects, after what is not needed has gone. @param {Page} page */
async function heap(page) {
  const session = await page.context().newCDPSession(page);
  await session.send("HeapProfiler.collectGarbage");
  const { usedSize } = await session.send("Runtime.getHeapUsage");
  await session.detach();
  return usedSize / 1e6;
}

/** Milliseconds of an answer, the slowest of twenty but one. @param {() => Promise<unknown>} ask */
async function answered(ask) {
  const times = [];
  for (let i = 0; i < 20; i++) {
    const start = performance.now();
    await ask();
    times.push(performance.now() - start);
  }
  return quantile(times, 0.95);
}

/** @param {string} name @param {number} spans @param {number} value @param {number | undefined} small */
function line(name, spans, value, small) {
  const budgets = /** @type {Record<string, Record<number, number>>} */ (BUDGETS);
  const budget = budgets[name]?.[spans];
  const told = budget === undefined ? "" : `budget ${budget}${value > budget ? "  OVER" : ""}`;
  const ratio = small ? `${(value / small).toFixed(2)} x` : "";
  console.log(
    `${name.padEnd(24)}${String(spans).padStart(8)}${value.toFixed(1).padStart(10)}${ratio.padStart(10)}  ${told}`,
  );
}

const load = () =>
  loadavg()
    .map((one) => one.toFixed(2))
    .join(" ");
const server = await startServer();
const browser = await launch();
try {
  console.log(`load of the machine at the start: ${load()}`);
  /** @type {Record<number, string>} */
  const ids = {};
  for (const spans of SIZES) {
    const found = await upload(server, chain(`long-${spans}`, spans / 2 - 1), `${spans}.jsonl`, "bench");
    ids[spans] = found[`long-${spans}`] ?? "";
  }
  await upload(server, chain("short", 3, 1), "short.jsonl", "bench");
  await score(server, "dag", "bench");
  console.log(`${"what".padEnd(24)}${"spans".padStart(8)}${"value".padStart(10)}${"to 200".padStart(10)}`);
  /** @type {Measured} */
  const small = {};
  for (const spans of SIZES) {
    const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
    const path = `/trajectories/${ids[spans]}?project=bench`;
    /** @type {Measured} */
    const measured = {
      "open, ms": await opened(page, `${server.url}/p/bench/t/${ids[spans]}?by=dag&span=none`),
      "select to paint, ms": await selected(page),
      "scroll p95 frame, ms": await scrolled(page),
      "heap, MB": await heap(page),
      "skeleton p95, ms": await answered(() => call(server, path)),
    };
    for (const [name, value] of Object.entries(measured)) {
      if (spans === SIZES[0]) small[name] = value;
      line(name, spans, value, spans === SIZES[0] ? undefined : small[name]);
    }
    await page.close();
  }
  const rows = Array.from({ length: 500 }, (_, i) => chain(`row-${i}`, 3, i % 2));
  await upload(server, rows.join("\n"), "rows.jsonl", "rows");
  await score(server, "dag", "rows");
  for (const [name, query] of [
    ["list p95, ms", ""],
    ["list, alike p95, ms", "&zero_variance=false"],
  ]) {
    const value = await answered(() => call(server, `/trajectories?project=rows&run=dag${query}`));
    console.log(
      `${String(name).padEnd(24)}${"500 rows".padStart(8)}${value.toFixed(1).padStart(10)}            budget ${LIST_BUDGET} at 100,000 rows`,
    );
  }
  console.log(`load of the machine at the end: ${load()}`);
} finally {
  await browser.close();
  await server.stop();
}
