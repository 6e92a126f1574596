/**
 * Pictures of every screen in both themes at two widths, of a real server with the bundled example:
 * npm run shots [folder [name,name...]]
 */

import { mkdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { launch } from "../e2e/browser.mjs";
import { DEMO, demo, judge, late, opine, pool, score, startServer } from "../e2e/server.mjs";

/** @typedef {import("playwright-core").Page} Page */
/** @typedef {[path: string, ready: string, act?: (page: Page) => Promise<unknown>]} Screen */

const folder = process.argv[2] ?? join(tmpdir(), "trajcredit-shots");
/** Screens that are wanted; all of them where none is named. */
const wanted = process.argv[3]?.split(",");

/** @param {string} text */
function palette(text) {
  return async (/** @type {Page} */ page) => {
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "go to or do" }).fill(text);
    await page
      .getByRole("option", { name: /^trajectory/ })
      .first()
      .waitFor();
  };
}

/**
 * @param {Record<string, string>} ids
 * @param {Record<string, string>} others
 * @param {Record<string, string>} judgings
 * @returns {Record<string, Screen>}
 */
function screensOf(ids, others, judgings) {
  const failed = `/p/default/t/${ids["flight-1"]}`;
  const text = '[data-span="0"] .body';
  const edges = ".panel .edgeitem";
  return {
    list: ["/p/default/trajectories?run=dag", ".cover"],
    suggestions: ["/p/default/trajectories?run=grpo", ".cover", (page) => page.getByLabel("tool").click()],
    dag: [failed, edges],
    search: [`${failed}?span=s2&by=dag`, edges],
    grpo: [`${failed}?by=grpo`, text],
    both: [`${failed}?span=s2&by=dag&vs=grpo`, ".agreement"],
    weather: [`${failed}?span=s4&by=dag&vs=grpo`, edges],
    difference: [`${failed}?span=s2&by=dag&vs=grpo&diff=1&show=advantage`, ".agreement"],
    report: [`${failed}?span=none&by=dag`, ".panel .facts"],
    passed: [`/p/default/t/${ids["flight-2"]}`, text],
    chooser: [`${failed}?by=dag`, text, (page) => page.keyboard.press("b")],
    keys: [`${failed}?by=dag`, text, (page) => page.keyboard.press("?")],
    find: [`${failed}?by=dag&span=s2&q=ITN-48213&occ=2`, "mark.strong"],
    palette: [failed, edges, (page) => page.keyboard.press("Control+k")],
    palettewords: ["/p/default/runs", ".cover", palette("fl")],
    runs: ["/p/late/runs", ".cover"],
    newrun: ["/p/default/runs", ".cover", (page) => page.getByRole("button", { name: "New run" }).click()],
    noruns: ["/p/nobody/runs", ".nomatch"],
    run: ["/p/default/runs/dag", ".facts"],
    stalerun: ["/p/late/runs/dag", ".stale"],
    stale: [`/p/late/t/${others.open}?by=dag`, ".headline"],
    unread: [`/p/late/t/${others.after}?by=dag`, ".headline"],
    cone: [`${failed}?span=s2&by=dag&view=cone`, ".conenode"],
    edit: [`${failed}?span=s10&by=dag&edit=1`, ".editor", previewEdit],
    groups: ["/p/default/groups", ".dots"],
    group: ["/p/default/g/ext:denver-sanjose?by=dag", ".pair"],
    dashboard: ["/p/pool/dash", ".dash .card table"],
    exports: ["/p/default/exports?run=dag&to=verl&tokenizer=byte-level", ".token"],
    noids: ["/p/default/exports?run=dag&to=verl", ".alarm"],
    rows: ["/p/default/exports?run=dag&to=parquet", ".take"],
    norun: ["/p/nobody/exports", ".scorenow"],
    labels: ["/p/default/labels?outcome=any", ".asklabeller", (page) => labelOne(page)],
    grades: ["/p/default/labels?show=grades", ".gradetable"],
    judges: ["/p/pool/judges", ".judgetable"],
    newjudging: ["/p/pool/judges", ".judgetable", (page) => page.getByRole("button", { name: "New judging" }).click()],
    nojudges: ["/p/nobody/judges", ".nomatch"],
    judging: [`/p/pool/judges/${judgings.mine}?against=${judgings.rules}`, ".curve svg"],
    worse: [`/p/pool/judges/${judgings.rules}`, ".curve svg"],
    fewjudged: [`/p/default/judges/${judgings.few}`, ".verdict"],
    opinions: ["/p/pool/t/ext:g0r3?span=s4&by=dag", ".opinions .reason"],
    notjudged: ["/p/pool/t/ext:g9r3?span=s4&by=dag", ".opinions .none"],
    scorewith: [`/p/pool/runs?new=judge&p.judge=${judgings.rules}`, ".scorenow details"],
    missing: [`${failed}x`, ".trouble"],
    empty: ["/p/nobody/trajectories", ".command"],
    upload: ["/p/default/upload", ".drop", (page) => page.setInputFiles("input[type=file]", DEMO)],
  };
}

/** Removes the last source of the span, and looks at what a run would say then. */
async function previewEdit(/** @type {Page} */ page) {
  await page
    .getByRole("button", { name: /^remove the edge with/ })
    .last()
    .click();
  await page.getByRole("button", { name: /^Preview in/ }).click();
  await page.getByRole("region", { name: "Preview" }).waitFor();
}

/** Says who labels, and calls the first choice of the rollout the culprit. */
async function labelOne(/** @type {Page} */ page) {
  await page.keyboard.type("Ann");
  await page.keyboard.press("Enter");
  await page.locator(".span").first().waitFor();
  await page.keyboard.press("1");
  await page.keyboard.press("Shift+S");
  await page.locator(".cell").first().waitFor();
}

/**
 * @param {import("playwright-core").BrowserContext} context
 * @param {string} url
 * @param {Screen} screen
 * @param {string} name
 */
async function take(context, url, [path, ready, act], name) {
  const page = await context.newPage();
  await page.goto(url + path);
  await page.locator(ready).first().waitFor();
  await act?.(page);
  await page.waitForLoadState("networkidle");
  await page.screenshot({ path: join(folder, `${name}.png`) });
  await page.close();
}

const server = await startServer();
const browser = await launch();
try {
  const { ids } = await demo(server);
  await pool(server, "pool");
  for (const attributor of ["grpo", "shapley", "dag"]) await score(server, attributor, "pool");
  const judgings = {
    rules: await judge(server, "pool"),
    few: await judge(server, "default"),
    mine: await opine(server, "pool", "It says “later” where the task says now:\nthe offer will be gone."),
  };
  const screens = screensOf(ids, await late(server, "late"), judgings);
  await mkdir(folder, { recursive: true });
  for (const width of [1440, 900]) {
    for (const colorScheme of /** @type {const} */ (["light", "dark"])) {
      const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme });
      for (const [name, screen] of Object.entries(screens)) {
        if (wanted && !wanted.includes(name)) continue;
        await take(context, server.url, screen, `${name}-${width}-${colorScheme}`);
      }
      await context.close();
    }
  }
  // the pictures of the README: every span of the failed rollout and the whole panel; its siblings
  const context = await browser.newContext({ viewport: { width: 1440, height: 960 }, colorScheme: "light" });
  await take(context, server.url, /** @type {Screen} */ (screens.both), "trajectory");
  await take(context, server.url, /** @type {Screen} */ (screens.group), "siblings");
  console.log(`${4 * (wanted ?? Object.keys(screens)).length + 2} pictures in ${folder}`);
} finally {
  await browser.close();
  await server.stop();
}
