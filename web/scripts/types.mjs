/**
 * Types of the API from its own OpenAPI document: npm run types.
 * With --check, fails where the committed ones differ.
 */

import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import openapiTS, { astToString } from "openapi-typescript";

const file = fileURLToPath(new URL("../src/api.gen.ts", import.meta.url));
const python = process.env.PYTHON ?? "python";
const document = execFileSync(python, ["-m", "trajcredit.api.openapi"], { encoding: "utf8", maxBuffer: 1 << 26 });
const types = `// Made from the server's OpenAPI document by \`npm run types\`.\n\n${astToString(await openapiTS(JSON.parse(document)))}`;

if (!process.argv.includes("--check")) writeFileSync(file, types);
else if (readFileSync(file, "utf8") !== types) {
  console.error("src/api.gen.ts is not what the server's OpenAPI document makes: run `npm run types` and commit it");
  process.exit(1);
}
