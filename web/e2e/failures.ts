/** A test that fails says what its pages showed, each time it is tried. */

import { afterEach } from "vitest";
import { shown } from "./browser.mjs";

afterEach(async ({ task }) => {
  const errors = task.result?.errors ?? [];
  const attempt = task.result?.retryCount ?? 0;
  if (errors.length <= attempt) return; // errors of earlier attempts are kept
  console.error(`${task.name}, attempt ${attempt + 1}: ${errors.at(-1)?.message}`);
  console.error(JSON.stringify(await shown(), null, 1));
});
