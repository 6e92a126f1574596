/** Runs: asked for, told as they go on, asked for again, stopped; and what every screen has: the palette and the keys. */

import AxeBuilder from "@axe-core/playwright";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { launch } from "./browser.mjs";
import { call, late, upload } from "./server.mjs";

const { server: served, ids, dag } = inject("served");
const server = { ...served, stop: async () => {} };
const unique = (name: string) => `${name}-${Date.now()}`;
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

const PROJECT = unique("runs");
const AT_WORK = {
  state: "running",
  done: 1,
  total: 4,
  finished: null,
};

/** A run as the server tells it, at work where the real one has ended. */
async function atWork(page: Page, events: (run: object) => string): Promise<void> {
  const run = { ...(await call(server, `/runs/${dag}`)), ...AT_WORK };
  await page.route("**/api/v1/runs/*", (route) => route.fulfill({ json: run }));
  await page.route("**/api/v1/runs/*/events?*", (route) =>
    route.fulfill({ contentType: "text/event-stream", body: events(run) }),
  );
}

const event = (name: string, run: object) => `event: ${name}\ndata: ${JSON.stringify(run)}\n\n`;

describe("runs", () => {
  test("a run is started here, told by the server as it goes on, and leads to what it says", async () => {
    const log = (id: string, reward: number) =>
      JSON.stringify({
        trajectory_id: id,
        group_id: "g",
        reward,
        messages: [
          { role: "user", content: `who is ${id}?` },
          { role: "assistant", content: `I am ${id}.` },
        ],
      });
    await upload(server, [log("a", 1), log("b", 0)].join("\n"), "a.jsonl", PROJECT);
    const page = await open(`/p/${PROJECT}/runs`);
    await page.getByText("No run yet.").waitFor();
    await page.getByRole("button", { name: "New run" }).click();
    await page.locator(".scorenow select").first().selectOption("grpo");
    await page.getByRole("button", { name: "Score all trajectories" }).click();
    await page.getByRole("heading", { name: "grpo #1" }).waitFor();
    await page.locator(".runstate", { hasText: "done" }).waitFor();
    await page.getByText("2 of 2 done").waitFor();
    const facts = await page.locator(".run .facts").allTextContents();
    for (const said of ["attributorgrpo", "rewardverifier", "criticnone", "flavourverl"]) {
      expect(facts.join(" ")).toContain(said);
    }
    expect(await page.getByRole("link", { name: "Credit rows, JSON lines" }).getAttribute("href")).toContain(
      "to=jsonl",
    );
    await page.getByRole("link", { name: "Trajectories with its credit" }).click();
    await page.waitForURL("**/trajectories?run=*");
    await page.locator(".cover").first().waitFor();
    await page.close();
  });

  test("progress comes over the stream alone, and the end with it", async () => {
    const page = await context.newPage();
    const asked: string[] = [];
    page.on("request", (request) => {
      if (/\/runs\/[^/]+\?/.test(request.url())) asked.push(request.url());
    });
    await atWork(page, (run) =>
      [
        event("state", run),
        event("progress", { ...run, done: 3 }),
        event("state", { ...run, state: "done", done: 4 }),
      ].join(""),
    );
    await page.goto(`${server.url}/p/default/runs/${dag}`);
    await page.getByText("4 of 4 done").waitFor();
    expect(asked.length).toBe(1);
    await page.close();
  });

  test("where the stream breaks the run is asked for every second, and that is said", async () => {
    const page = await context.newPage();
    await atWork(page, () => "");
    await page.goto(`${server.url}/p/default/runs/${dag}`);
    await page.getByText("1 of 4, 25 %").waitFor();
    await page.getByText("The server is asked every second.").waitFor();
    await page.unroute("**/api/v1/runs/*");
    await page.locator(".runstate", { hasText: "done" }).waitFor();
    await page.getByText("4 of 4 done").waitFor();
    await page.close();
  });

  test("a stale run says why, and one press asks for the same again", async () => {
    const project = unique("stale");
    await late(server, project);
    const page = await open(`/p/${project}/runs`);
    const row = page.getByRole("row", { name: /dag #1/ });
    await row.getByText("stale: a reward came later").waitFor();
    await row.getByRole("button", { name: "Run again: dag #1" }).click();
    await page.getByRole("heading", { name: "dag #2" }).waitFor();
    await page.locator(".runstate", { hasText: "done" }).waitFor();
    expect(await page.locator(".stale").count()).toBe(0);
    await page.getByText("5 of 5 done").waitFor();
    await page.getByRole("link", { name: "All runs" }).click();
    await expect.poll(() => page.locator(".cover").allTextContents()).toEqual(["dag #2", "dag #1"]);
    await page.close();
  });

  test("a run at work is stopped from the list", async () => {
    const page = await context.newPage();
    const run = { ...(await call(server, `/runs/${dag}`)), ...AT_WORK };
    let stopped = false;
    await page.route("**/api/v1/runs?*", (route) =>
      route.fulfill({ json: { items: [stopped ? { ...run, state: "cancelled" } : run], next: null } }),
    );
    await page.route("**/api/v1/runs/*/cancel?*", (route) => {
      stopped = true;
      return route.fulfill({ json: { ...run, state: "cancelled" } });
    });
    await page.goto(`${server.url}/p/default/runs`);
    const row = page.getByRole("row", { name: /dag #/ });
    expect(await row.getByRole("progressbar").getAttribute("value")).toBe("1");
    await row.getByRole("button", { name: /^Cancel dag/ }).click();
    await row.getByText("cancelled").waitFor();
    await row.getByRole("button", { name: /^Run again/ }).waitFor();
    await page.close();
  });

  test("a run that is not there is named", async () => {
    const page = await open("/p/default/runs/oracle");
    await page.getByText("Looked for: run oracle").waitFor();
    await page.close();
  });
});

describe("the palette", () => {
  const palette = (page: Page) => page.getByRole("combobox", { name: "go to or do" });

  test("goes to screens, trajectories, groups and runs by keyboard alone", async () => {
    const page = await open("/p/default/trajectories");
    await page.locator(".cover").first().waitFor(); // keys are heard once the page is painted
    await page.waitForLoadState("networkidle");
    const choose = async (text: string, option: RegExp) => {
      await page.keyboard.press("Control+k");
      await palette(page).waitFor();
      await page.keyboard.type(text);
      const wanted = page.getByRole("option", { name: option });
      await wanted.waitFor();
      while ((await wanted.getAttribute("aria-selected")) !== "true") await page.keyboard.press("ArrowDown");
      const active = await palette(page).getAttribute("aria-activedescendant");
      expect(await wanted.getAttribute("id")).toBe(active);
      await page.keyboard.press("Enter");
    };
    await choose("upl", /go to Upload/);
    await page.waitForURL("**/upload");
    await choose("flight-1", /trajectory flight-1/);
    await page.waitForURL("**/t/ext%3Aflight-1");
    await page.locator('[data-span="2"] .body').waitFor();
    await choose("denver", /group denver-sanjose/);
    await page.waitForURL("**/g/*");
    await page.getByRole("heading", { name: /denver-sanjose/ }).waitFor();
    await choose("dag", /run dag #\d+ /);
    await page.waitForURL("**/runs/*");
    await page.locator(".run .facts").first().waitFor();
    await page.close();
  });

  test("scores with an attributor, changes colours, copies a link, and Escape leaves it", async () => {
    const page = await open(`/p/${PROJECT}/trajectories`);
    await page.locator(".cover").first().waitFor();
    const run = async (text: string) => {
      await page.keyboard.press("Control+k");
      await palette(page).fill(text);
      await page.locator(".palette").getByRole("option").first().waitFor();
      await page.keyboard.press("Enter");
    };
    await run("dark");
    await page.waitForFunction(() => document.documentElement.dataset.theme === "dark");
    await run("copy link");
    await page.getByText("Link to this view copied.").waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(page.url());
    await run("opo");
    await page.getByRole("heading", { name: /^opo #/ }).waitFor();
    await page.keyboard.press("Control+k");
    await palette(page).fill("nothing of that name");
    await page.getByText("Nothing of that name.").waitFor();
    await page.keyboard.press("Escape");
    await page.locator("dialog").waitFor({ state: "detached" });
    await run("system");
    await page.close();
  });
});

describe("keys", () => {
  test("? has its sheet on every screen, and the switch turns single keys off and on", async () => {
    const page = await open("/p/default/trajectories");
    const heading = page.getByRole("heading", { name: "Keys" });
    for (const screen of ["trajectories", "runs", "upload", "exports", `runs/${dag}`]) {
      await page.goto(`${server.url}/p/default/${screen}`);
      await page.locator("main").waitFor();
      await page.keyboard.press("?");
      await heading.waitFor();
      await page.keyboard.press("Escape");
      await page.locator("dialog").waitFor({ state: "detached" }); // a closed one hides its heading before it is gone
    }
    await page.keyboard.press("?");
    await page.getByLabel("single-key shortcuts on").uncheck();
    await page.keyboard.press("Escape");
    await page.keyboard.press("?");
    await page.keyboard.press("Control+k");
    await palette(page);
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "keys", exact: true }).click();
    await page.getByLabel("single-key shortcuts on").check();
    await page.close();

    async function palette(at: Page) {
      await at.getByRole("combobox", { name: "go to or do" }).waitFor();
      expect(await at.getByRole("heading", { name: "Keys" }).count()).toBe(0);
    }
  });

  test("J and K go along the list one came from, looked at in the same way", async () => {
    const page = await open("/p/default/trajectories?run=dag&sort=created&outcome=fail");
    await page.getByRole("link", { name: "flight-1", exact: true }).click();
    await page.locator('[data-span="2"]').waitFor();
    await page.keyboard.press("Shift+J");
    await page.waitForURL(`**/t/${ids["flight-3"]}?by=dag*`);
    await page.getByRole("heading", { name: "flight-3" }).waitFor();
    await page.keyboard.press("Shift+J");
    await page.getByText("This is the last of the list.").waitFor();
    await page.reload();
    await page.getByRole("heading", { name: "flight-3" }).waitFor();
    await page.keyboard.press("Shift+K");
    await page.waitForURL(`**/t/${ids["flight-1"]}?by=dag*`);
    await page.close();
  });
});

describe("the list", () => {
  test("says where a rollout stands in its group, and finds those without one and those that tell nothing apart", async () => {
    const project = unique("groups");
    const log = (id: string, group: string, reward: number) =>
      JSON.stringify({
        trajectory_id: id,
        group_id: group,
        reward,
        messages: [
          { role: "user", content: "go" },
          { role: "assistant", content: "done" },
        ],
      });
    const rows = [log("alone", "a", 1), log("b1", "b", 1), log("b2", "b", 1), log("c1", "c", 1), log("c2", "c", 0)];
    await upload(server, rows.join("\n"), "groups.jsonl", project);
    const page = await open(`/p/${project}/trajectories`);
    const cells = page.getByRole("row", { name: /c2/ }).getByRole("cell");
    expect([await cells.nth(2).textContent(), await cells.nth(4).textContent()]).toEqual(["−0.50", "1/2"]);
    await page.getByLabel("no group").check();
    await page.waitForURL("**no_group=true*");
    await expect.poll(() => page.locator(".cover").allTextContents()).toEqual(["alone"]);
    await page.getByRole("status").getByText("1 of 1").waitFor();
    await page.getByLabel("no group").uncheck();
    await page.getByLabel("zero-variance group").check();
    await expect.poll(() => page.locator(".cover").allTextContents()).toEqual(["b2", "b1"]);
    await page.close();
  });
});

for (const colorScheme of ["light", "dark"] as const) {
  test(`axe finds nothing serious in runs, a run, the palette and the keys, ${colorScheme}`, async () => {
    const own = await browser.newContext({ viewport: { width: 1440, height: 900 }, colorScheme });
    const page = await own.newPage();
    const check = async (what: string) => {
      const { violations } = await new AxeBuilder({ page }).analyze();
      const serious = violations.filter((found) => found.impact === "serious" || found.impact === "critical");
      expect([what, serious.map((found) => [found.id, found.nodes.map((node) => node.html.slice(0, 200))])]).toEqual([
        what,
        [],
      ]);
    };
    const project = unique("axe");
    await late(server, project);
    await page.goto(`${server.url}/p/${project}/runs`);
    await page.getByRole("button", { name: "New run" }).click();
    await page.locator(".cover").first().waitFor();
    await check("runs");
    await page.goto(`${server.url}/p/${project}/runs/dag`);
    await page.locator(".stale").waitFor();
    await check("run");
    await page.keyboard.press("Control+k");
    await page.locator(".palette").getByRole("option").first().waitFor();
    await check("palette");
    await page.keyboard.press("Escape");
    await page.keyboard.press("?");
    await page.getByRole("heading", { name: "Keys" }).waitFor();
    await check("keys");
    await own.close();
  });
}
