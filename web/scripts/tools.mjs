/** Installs what tests and pictures need where it is not there: an install of the package leaves development tools out. */

import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const web = fileURLToPath(new URL("..", import.meta.url));
if (!["vitest", "playwright-core"].every((tool) => existsSync(`${web}/node_modules/${tool}`))) {
  execFileSync("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund"], { cwd: web, stdio: "inherit" });
}
