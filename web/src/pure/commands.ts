/** The same export elsewhere: as `to` of the API and the command line, as a command, as lines of Python. */

export interface Parameter {
  name: string;
  type: string;
  default: string;
}

export interface Taken {
  run: { id: string; label: string; number: number; attributor: string };
  project: string;
  to: string;
  parameters: Record<string, string>;
  tokenizer: string | null;
  /** The file name of the server's database; null where it is no file, or not known. */
  database: string | null;
  suffix: string;
}

/** `NAME:key=value,...`; the parameters in the order of their names. */
export function toText(to: string, parameters: Record<string, string>): string {
  const given = Object.entries(parameters)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => `${name}=${value}`);
  return given.length > 0 ? `${to}:${given.join(",")}` : to;
}

/** As the server calls the file. */
export const fileName = ({ run, suffix }: Pick<Taken, "run" | "suffix">) => `${run.attributor}-${run.number}${suffix}`;

/** Where the folder of tokenizers lies only who started the server knows. */
const FOLDER = "FOLDER";
/** As `serve --db` had it, where it is no file. */
export const DATABASE = "DATABASE";

export function command(taken: Taken): string {
  const { project, tokenizer } = taken;
  const words = [
    "trajcredit",
    "export",
    "--db",
    taken.database ?? DATABASE,
    "--run",
    taken.run.id,
    "--to",
    toText(taken.to, taken.parameters),
  ];
  if (tokenizer !== null) words.push("--tokenizer", `${FOLDER}/${tokenizer}`);
  if (project !== "default") words.push("--project", project);
  return [...words, "-o", fileName(taken)].map(shell).join(" ");
}

/** A word that a POSIX shell takes as it is. */
function shell(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

interface Scored {
  attributor: string;
  parameters: Record<string, unknown>;
  reward_source: string | null;
  reward_name: string | null;
  group_by: string | null;
}

/** Scores the same logs and writes the same file, without a store. */
export function python(taken: Taken, scored: Scored, attributor: Parameter[], exporter: Parameter[]): string {
  const read: [string, unknown][] = [
    ["reward", scored.reward_name ?? scored.reward_source],
    ["group_by", scored.group_by],
  ];
  const batch = keywords(read.filter(([, value]) => value !== null));
  const logs = [literal("LOGS"), ...keywords(taken.project === "default" ? [] : [["project", taken.project]])];
  const own = Object.entries(scored.parameters).filter(
    ([name, value]) => !isDefault(value, attributor.find((one) => one.name === name)?.default),
  );
  const given = Object.entries(taken.parameters).map(([name, value]): [string, unknown] => [
    name,
    typed(value, exporter.find((one) => one.name === name)?.type ?? "str"),
  ]);
  const file: [string, unknown][] = [
    ["to", taken.to],
    ["out", fileName(taken)],
  ];
  if (taken.tokenizer !== null) file.push(["tokenizer", `${FOLDER}/${taken.tokenizer}`]);
  return [
    "import trajcredit as tc",
    "",
    `batch = tc.batch(${[`tc.read(${logs.join(", ")})`, ...batch].join(", ")})`,
    `credit = tc.attribute(${["batch", literal(scored.attributor), ...keywords(own)].join(", ")})`,
    `tc.export(${["credit", ...keywords([...file, ...given])].join(", ")})`,
  ].join("\n");
}

const keywords = (values: [string, unknown][]) => values.map(([name, value]) => `${name}=${literal(value)}`);

/** A value of JSON in Python. */
function literal(value: unknown): string {
  if (value === null) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (Array.isArray(value)) return `(${value.map(literal).join(", ")}${value.length === 1 ? "," : ""})`;
  return typeof value === "number" ? String(value) : JSON.stringify(value);
}

/** The command line's text as a value, by the type that the server names. */
function typed(text: string, type: string): unknown {
  if (type.includes("joined by +")) return text.split("+");
  if (type === "bool") return text === "true";
  if (text === "none" && type.endsWith("| none")) return null;
  if (/\b(int|float)\b/.test(type) && text.trim() !== "" && Number.isFinite(Number(text))) return Number(text);
  return text;
}

/** Whether a value of a run is what the attributor has anyway, which the server tells as text. */
function isDefault(value: unknown, usual: string | undefined): boolean {
  if (usual === undefined) return false;
  if (Array.isArray(value)) return value.join("+") === usual;
  return typeof value === "number" ? value === Number(usual) : String(value ?? "none") === usual;
}
