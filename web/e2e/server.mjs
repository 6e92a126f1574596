/** A real server on a database of its own, and the few calls that fill it. */

import { execFileSync, spawn } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
export const DEMO = join(ROOT, "trajcredit/data/wrong_flight.jsonl");

/** The interpreter that has trajcredit: $PYTHON, else the one on the path. */
const PYTHON = process.env.PYTHON ?? "python";

/**
 * @typedef {object} Server
 * @property {string} url without a slash at the end
 * @property {() => Promise<void>} stop
 */

/**
 * A folder of tokenizers for `serve --tokenizers`: one, called `byte-level`, which the Python tests use too.
 * @param {string} folder
 */
function tokenizersIn(folder) {
  const made = join(folder, "tokenizers");
  const code =
    "import pathlib, sys; from tests.tokens.tokenizers import byte_level; byte_level(pathlib.Path(sys.argv[1]))";
  execFileSync(PYTHON, ["-c", code, join(made, "byte-level")], { cwd: ROOT });
  return made;
}

/**
 * Starts `trajcredit serve` on a database in a folder; port 0 is any free one.
 * @param {string} folder
 * @param {number} port
 * @param {string[]} [more] options
 * @returns {Promise<Server>}
 */
export async function serve(folder, port, more = []) {
  const args = ["-m", "trajcredit.cli", "serve", "--port", String(port), "--db", join(folder, "test.db"), ...more];
  const child = spawn(PYTHON, args, { cwd: folder, stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  /** @type {Promise<string>} */
  const url = new Promise((resolve, reject) => {
    const look = (/** @type {Buffer} */ chunk) => {
      said += chunk.toString();
      const found = /http:\/\/127\.0\.0\.1:\d+/.exec(said);
      if (found) resolve(found[0]);
    };
    child.stdout.on("data", look);
    child.stderr.on("data", look);
    child.on("error", reject);
    child.on("exit", (code) => reject(new Error(`trajcredit serve ended with ${code}:\n${said}`)));
    setTimeout(() => reject(new Error(`no URL from trajcredit serve after 60 s:\n${said}`)), 60_000).unref();
  });
  const stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGTERM");
    await ended;
  };
  try {
    return { url: await url, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

export const newFolder = () => mkdtemp(join(tmpdir(), "trajcredit-web-"));
export const removeFolder = (/** @type {string} */ folder) => rm(folder, { recursive: true, force: true });

/**
 * A server on a new database, gone with it; with TRAJCREDIT_URL set, what runs there instead.
 * @returns {Promise<Server>}
 */
export async function startServer() {
  if (process.env.TRAJCREDIT_URL) return { url: process.env.TRAJCREDIT_URL.replace(/\/$/, ""), stop: async () => {} };
  const folder = await newFolder();
  try {
    const { url, stop } = await serve(folder, 0, ["--tokenizers", tokenizersIn(folder)]);
    return { url, stop: () => stop().then(() => removeFolder(folder)) };
  } catch (error) {
    await removeFolder(folder);
    throw error;
  }
}

/**
 * @param {Pick<Server, "url">} server
 * @param {string} path
 * @param {RequestInit} [init]
 */
export async function call(server, path, init) {
  const answer = await fetch(`${server.url}/api/v1${path}`, init);
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${init?.method ?? "GET"} ${path}: ${answer.status} ${text}`);
  return JSON.parse(text);
}

/**
 * Uploads a log; the ids by the log's own.
 * @param {Pick<Server, "url">} server
 * @param {string | Uint8Array<ArrayBuffer>} log
 * @param {string} name
 * @param {string} [project]
 * @returns {Promise<Record<string, string>>}
 */
export async function upload(server, log, name, project = "default") {
  const query = new URLSearchParams({ project, name });
  const headers = { "Content-Type": "application/x-ndjson" };
  const result = await call(server, `/trajectories?${query}`, { method: "POST", body: log, headers });
  return Object.fromEntries(
    result.items.map((/** @type {{external_id: string, id: string}} */ item) => [item.external_id, item.id]),
  );
}

/**
 * Scores a project and waits for it; the run's id.
 * @param {Server} server
 * @param {string} attributor
 * @param {string} [project]
 * @param {object} [more] what else a run may be asked for
 * @returns {Promise<string>}
 */
export async function score(server, attributor, project = "default", more = {}) {
  const query = `?project=${encodeURIComponent(project)}`;
  const headers = { "Content-Type": "application/json" };
  const body = JSON.stringify({ attributor, ...more });
  let run = await call(server, `/runs${query}`, { method: "POST", headers, body });
  while (run.state === "queued" || run.state === "running") {
    await new Promise((resolve) => setTimeout(resolve, 100));
    run = await call(server, `/runs/${run.id}${query}`);
  }
  if (run.state !== "done") throw new Error(`run ${attributor} ${run.state}: ${run.error}`);
  return run.id;
}

/**
 * The bundled booking, scored by `grpo` and `dag`.
 * @param {Server} server
 */
export async function demo(server) {
  const ids = await upload(server, await readFile(DEMO, "utf8"), "wrong_flight.jsonl");
  return { ids, grpo: await score(server, "grpo"), dag: await score(server, "dag") };
}

/**
 * A project of ten tasks of four rollouts, where `when` of the order (s4) decides: enough for a critic; the ids.
 * @param {Pick<Server, "url">} server
 * @param {string} project
 */
export async function pool(server, project) {
  const calls = (/** @type {string} */ id, /** @type {string} */ name, /** @type {object} */ args) => ({
    role: "assistant",
    content: name === "order" ? "Ordering it." : null,
    tool_calls: [{ id, type: "function", function: { name, arguments: JSON.stringify(args) } }],
  });
  const rows = Array.from({ length: 40 }, (_, n) => {
    const [task, now] = [Math.floor(n / 4), n % 4 < 1 + (Math.floor(n / 4) % 3)];
    const [thing, offer] = [`KX-${4100 + task}`, `QZ-${7300 + 11 * task}`];
    return {
      id: `g${task}r${n % 4}`,
      group_id: `g${task}`,
      reward: Number(now !== (n % 11 === 5)),
      messages: [
        { role: "user", content: `order one ${thing}` },
        calls("a", "search", { thing }),
        { role: "tool", tool_call_id: "a", content: JSON.stringify({ offer, left: 3 }) },
        calls("b", "order", { offer, when: now ? "now" : "later" }),
        { role: "tool", tool_call_id: "b", content: JSON.stringify({ placed: true }) },
        { role: "assistant", content: `I ordered ${offer}.` },
      ],
    };
  });
  return upload(server, rows.map((row) => JSON.stringify(row)).join("\n"), "pool.jsonl", project);
}

/**
 * A project in which a reward came after the run, which is stale now, and then trajectories; the ids.
 * @param {Server} server
 * @param {string} project
 */
export async function late(server, project) {
  const log = (/** @type {string} */ id, /** @type {number | null} */ reward) =>
    JSON.stringify({
      trajectory_id: id,
      group_id: "g",
      ...(reward === null ? {} : { reward }),
      messages: [
        { role: "user", content: `who is ${id}?` },
        { role: "assistant", content: `I am ${id}.` },
      ],
    });
  const first = await upload(server, [log("won", 1), log("lost", 0), log("open", null)].join("\n"), "a.jsonl", project);
  await score(server, "dag", project);
  const body = JSON.stringify({ trajectory: first.open, value: 1, source: "verifier" });
  const headers = { "Content-Type": "application/x-ndjson" };
  await call(server, `/rewards?project=${encodeURIComponent(project)}`, { method: "POST", body, headers });
  return { ...first, ...(await upload(server, [log("after", 1), log("later", 0)].join("\n"), "b.jsonl", project)) };
}

/**
 * A line of a log: calls whose arguments repeat a value of the result before, so that all spans are one chain, with long
 * jumps back to the first. It has two spans a call and two more.
 * @param {string} id
 * @param {number} calls
 * @param {number} [reward]
 */
export function chain(id, calls, reward = 0) {
  /** @type {object[]} */
  const messages = [{ role: "user", content: "walk the chain from NODE-100000" }];
  for (let i = 0; i < calls; i++) {
    const args = JSON.stringify({ node: `NODE-${100_000 + i}`, root: i % 100 === 99 ? "NODE-100001" : "none" });
    const made = { id: `call-${i}`, type: "function", function: { name: "visit", arguments: args } };
    messages.push({ role: "assistant", content: null, tool_calls: [made] });
    const content = JSON.stringify({ next: `NODE-${100_001 + i}` });
    messages.push({ role: "tool", tool_call_id: made.id, name: "visit", content });
  }
  messages.push({ role: "assistant", content: `the end is NODE-${100_000 + calls}` });
  return JSON.stringify({ trajectory_id: id, group_id: "g", reward, messages });
}

/**
 * Asks the rules about a project and waits for them; the judging's id.
 * @param {Pick<Server, "url">} server
 * @param {string} project
 * @returns {Promise<string>}
 */
export async function judge(server, project) {
  const query = `?project=${encodeURIComponent(project)}`;
  const headers = { "Content-Type": "application/json" };
  const body = JSON.stringify({ judge: "rules" });
  let judging = await call(server, `/judgings${query}`, { method: "POST", headers, body });
  while (judging.state === "queued" || judging.state === "running") {
    await new Promise((resolve) => setTimeout(resolve, 100));
    judging = await call(server, `/judgings/${judging.id}${query}`);
  }
  if (judging.state !== "done") throw new Error(`judging ${judging.state}: ${judging.error}`);
  return judging.id;
}

/**
 * Opinions that somebody else computed, of a project made by `pool`: a judge of states whose word mostly holds, with the
 * reason given, and that leaves the last rollout out; the judging's id.
 * @param {Pick<Server, "url">} server
 * @param {string} project
 * @param {string} reason
 * @param {string} [name] of the judge
 * @returns {Promise<string>}
 */
export async function opine(server, project, reason, name = "mine") {
  const rows = Array.from({ length: 40 }, (_, n) => {
    const [task, now] = [Math.floor(n / 4), n % 4 < 1 + (Math.floor(n / 4) % 3)];
    const last = now ? 0.62 + 0.03 * (n % 9) : 0.41 - 0.03 * (n % 11);
    const said = { schema: "trajcredit.opinion/1", trajectory_id: `g${task}r${n % 4}`, judge: name, scale: "state" };
    if (n === 39) return { ...said, model: "a-model", missing: reason };
    const scores = [0.5, 0.5 + 0.01 * (n % 5), last, last];
    const segments = [1, 3, 4, 6].map((span, i) => ({
      actions: [span],
      spans: [span],
      score: scores[i],
      ...(span === 4 ? { reason } : {}),
    }));
    return { ...said, model: "a-model", start: 0.5, segments };
  });
  const query = `?project=${encodeURIComponent(project)}`;
  const headers = { "Content-Type": "application/x-ndjson" };
  const body = rows.map((row) => JSON.stringify(row)).join("\n");
  const result = await call(server, `/judgings/upload${query}`, { method: "POST", headers, body });
  if (result.rejected > 0) throw new Error(JSON.stringify(result.items));
  return result.judging.id;
}
