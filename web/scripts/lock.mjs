/**
 * The lock file without `resolved`: it pins versions and hashes, and leaves the registry to whoever installs.
 * With --check, fails where an entry has one, or where package.json has a version that is not exact.
 */

import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const file = fileURLToPath(new URL("../package-lock.json", import.meta.url));
const manifest = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
const lock = JSON.parse(readFileSync(file, "utf8"));
const wrong = [];

for (const [name, entry] of Object.entries(lock.packages)) {
  if ("resolved" in entry) wrong.push(`${name || "."} has "resolved"`);
  delete entry.resolved;
  if (name !== "" && !entry.integrity && !entry.link) wrong.push(`${name} has no hash`);
}
for (const [name, version] of Object.entries({ ...manifest.dependencies, ...manifest.devDependencies })) {
  if (!/^\d+\.\d+\.\d+$/.test(String(version))) wrong.push(`${name} is asked for as ${version}, not as one version`);
}

if (!process.argv.includes("--check")) writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`);
else if (wrong.length > 0) {
  console.error(`package-lock.json: run \`npm run lock\`\n${wrong.join("\n")}`);
  process.exit(1);
}
