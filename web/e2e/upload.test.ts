/** Logs of all kinds dropped on the page: each file has its report, which names the line that is wrong. */

import { gzipSync } from "node:zlib";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { launch } from "./browser.mjs";

const { server } = inject("served");
let browser: Browser;

beforeAll(async () => {
  browser = await launch();
});

afterAll(() => browser.close());

const chat = (id: string) =>
  JSON.stringify({
    trajectory_id: id,
    messages: [
      { role: "user", content: `who is ${id}?` },
      { role: "assistant", content: `I am ${id}.` },
    ],
  });

async function open(project: string): Promise<Page> {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  await page.goto(`${server.url}/p/${project}/upload`);
  return page;
}

const report = (page: Page, name: string) => page.getByRole("region", { name, exact: true });

test("several files in three formats, one gzipped: good ones are stored, each bad one says where it is wrong", async () => {
  const project = `drop-${Date.now()}`;
  const page = await open(project);
  const file = (name: string, text: string | Buffer) => ({
    name,
    mimeType: "application/octet-stream",
    buffer: Buffer.from(text),
  });
  const otlp = { resourceSpans: [{ scopeSpans: [{ spans: [{ traceId: "t", spanId: 1 }] }] }] };
  const tau = [{ task_id: 1, reward: 1, traj: "none" }];
  await page
    .locator("input[type=file]")
    .setInputFiles([
      file("good.jsonl.gz", gzipSync(`${chat("a")}\n${chat("b")}\n`)),
      file("broken.jsonl", `${chat("c")}\n{"messages": [\n`),
      file("otlp.json", JSON.stringify(otlp)),
      file("tau.json", JSON.stringify(tau)),
      file("picture.png", Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0])),
    ]);
  await report(page, "good.jsonl.gz").getByText("2 created").waitFor();
  const broken = report(page, "broken.jsonl");
  await broken.getByText("1 created, 1 rejected").waitFor();
  expect(await broken.locator("tbody tr").first().locator("td").nth(2).textContent()).toBe("2");
  await report(page, "tau.json").getByText("Expected `array`, got `str` - at `$.traj`").waitFor();
  await report(page, "otlp.json").getByText("span 1: Expected `str`, got `int` - at `$.spanId`").waitFor();
  await report(page, "picture.png").locator(".trouble, .reason").first().waitFor();
  await page.getByText("3 trajectories stored.").waitFor();
  await page.close();
});

test("files are dropped on the page", async () => {
  const page = await open(`drop-${Date.now()}`);
  const files = ["a", "b"].map((name) => [`${name}.jsonl`, chat(name)]);
  await page.locator(".drop").evaluate((place, given) => {
    const dataTransfer = new DataTransfer();
    for (const [name, text] of given) dataTransfer.items.add(new File([text ?? ""], name ?? ""));
    for (const type of ["dragover", "drop"]) place.dispatchEvent(new DragEvent(type, { dataTransfer, bubbles: true }));
  }, files);
  for (const name of ["a.jsonl", "b.jsonl"]) await report(page, name).getByText("1 created").waitFor();
  await page.getByText("2 trajectories stored.").waitFor();
  await page.close();
});
