/** What a page does besides showing: dialogs, requests elsewhere, reports of the content policy, errors. */

import type { BrowserContext, Page } from "playwright-core";

export interface Seen {
  dialogs: string[];
  offOrigin: string[];
  violations: string[];
  errors: string[];
}

export async function watch(context: BrowserContext, origin: string): Promise<Seen> {
  const seen: Seen = { dialogs: [], offOrigin: [], violations: [], errors: [] };
  await context.exposeBinding("reportViolation", (_, what: string) => void seen.violations.push(what));
  await context.addInitScript(() => {
    document.addEventListener("securitypolicyviolation", (event) => {
      const report = (window as unknown as { reportViolation: (what: string) => void }).reportViolation;
      report(`${event.violatedDirective} ${event.blockedURI}`);
    });
  });
  context.on("request", (request) => {
    const url = request.url();
    if (!url.startsWith(`${origin}/`) && !url.startsWith("data:")) seen.offOrigin.push(url);
  });
  context.on("page", (page) => follow(page, seen));
  return seen;
}

function follow(page: Page, seen: Seen): void {
  page.on("dialog", (dialog) => {
    seen.dialogs.push(dialog.message());
    void dialog.dismiss();
  });
  page.on("pageerror", (error) => void seen.errors.push(String(error)));
}
