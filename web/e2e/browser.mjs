/** Debian's chromium under playwright, kept from calling home. */

import { chromium } from "playwright-core";

export const CHROMIUM = process.env.CHROMIUM ?? "/usr/bin/chromium";

const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** @type {Set<import("playwright-core").Browser>} */
const launched = new Set();

export async function launch() {
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: FLAGS });
  launched.add(browser);
  browser.on("disconnected", () => void launched.delete(browser));
  return browser;
}

/** What every open page shows, for whoever reads that a test failed: where it is, what it asked for last, its text. */
export async function shown() {
  const pages = [...launched].flatMap((browser) => browser.contexts()).flatMap((context) => context.pages());
  const seen = pages.map(async (page) => {
    const state = page.evaluate(() => {
      const asked = performance.getEntriesByType("resource").slice(-8);
      return {
        ready: document.readyState,
        focus: document.activeElement?.outerHTML.slice(0, 120),
        asked: asked.map((one) => `${one.name} ${Math.round(one.duration)} ms`),
        // biome-ignore lint/performance/useDomNodeTextContent: what a person sees is the question
        text: document.body.innerText.slice(0, 1500),
      };
    });
    const late = new Promise((resolve) => setTimeout(() => resolve("the page does not answer"), 5000));
    return { url: page.url(), state: await Promise.race([state, late]).catch(String) };
  });
  return Promise.all(seen);
}
