import type { Preview } from "../api";
import { count, number, plural } from "../pure/format";
import { PLAIN, trajectoryPath, writeView } from "../pure/url";
import { inline, visible } from "../pure/visible";
import { Go } from "./go";

/** What the file holds, in one row of figures. */
export function ExportTotals({ preview }: { preview: Preview }) {
  const { totals, advantage_mean } = preview;
  if (totals === null) return null;
  const figures: [string, string, string][] = [
    ["trajectories", count(totals.trajectories), "that have rows"],
    ["rows", count(totals.rows), ""],
    [
      "tokens",
      count(totals.tokens),
      `prompts and responses of all rows: ${count(totals.prompt)} before the first sampled token of each`,
    ],
    ["trained", count(totals.trained), "tokens whose log-probability the advantage multiplies"],
    [
      "sum(adv·mask)/sum(mask)",
      advantage_mean === null ? "–" : exact(advantage_mean),
      "mean advantage of a trained token: how far one pass over the file pushes all of them together",
    ],
  ];
  if (totals.cut_tokens > 0) {
    figures.splice(4, 0, [
      "cut",
      `${count(totals.cut_tokens)}, ${count(totals.cut_trained)} trained`,
      "tokens behind max_tokens, and how many of them would be trained",
    ]);
  }
  const ways: [string, number, string][] = [
    ["exact", totals.exact, "trained tokens whose ids the engine recorded"],
    ["re-tokenised", totals.retokenized, "trained tokens whose ids a tokenizer made from the text: outlined below"],
    ["failed", totals.failed, "trajectories whose tokens do not fit their spans, or this trainer's file"],
  ];
  return (
    <section aria-label="Totals" className="totals">
      <dl className="agreement">
        {figures.map(([name, value, title]) => (
          <div key={name} title={title}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
        <div className="alignment">
          <dt>alignment</dt>
          {ways.map(([name, value, title]) => (
            <dd key={name} title={title} className={name === "failed" && value > 0 ? "alarm" : undefined}>
              {name} {count(value)}
            </dd>
          ))}
        </div>
      </dl>
      <p className="muted small">
        sum(adv·mask)/sum(mask) is the mean advantage of a trained token: above 0 the file as a whole makes what was
        written likelier, below 0 less likely. Exact and re-tokenised count trained tokens, failed counts trajectories.
      </p>
      {preview.remarks.map((remark) => (
        <p key={remark} className="headline">
          {visible(remark)}
        </p>
      ))}
    </section>
  );
}

/** Four digits that count: a mean near zero is what this figure is looked at for. */
function exact(value: number): string {
  if (value === 0) return number(0);
  return `${value < 0 ? "−" : ""}${Number(Math.abs(value).toPrecision(4))}`;
}

interface Props {
  project: string;
  preview: Preview;
}

/** Who is not in the file, and what was guessed about those who are. */
export function LeftOut({ project, preview }: Props) {
  if (preview.totals === null) return null;
  const { left_out, notes, failures, failed } = preview.totals;
  return (
    <>
      {failures.length > 0 && (
        <section aria-label="Failed alignments">
          <h3>
            Failed alignments <span className="muted">{plural(failed, "trajectory", "trajectories")}</span>
          </h3>
          <ul className="notes">
            {failures.map((one, i) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: places of one answer, which never move
              <li key={i}>
                <Go
                  to={
                    trajectoryPath(project, `ext:${one.trajectory_id}`) +
                    writeView({ ...PLAIN, by: preview.run, span: one.span })
                  }
                >
                  {inline(one.trajectory_id)}
                  {one.turn >= 0 && `, turn ${one.turn}`}
                  {one.span !== null && `, s${one.span}`}
                </Go>{" "}
                {visible(one.reason)}
              </li>
            ))}
            {failed > failures.length && <li className="muted">These are the first places.</li>}
          </ul>
        </section>
      )}
      <Counts title="Left out" counts={left_out} />
      <Counts title="Notes" counts={notes} />
    </>
  );
}

function Counts({ title, counts }: { title: string; counts: Record<string, number> }) {
  const found = Object.entries(counts).sort(([, a], [, b]) => b - a);
  if (found.length === 0) return null;
  return (
    <section aria-label={title}>
      <h3>
        {title} <span className="muted">trajectories</span>
      </h3>
      <ul className="notes">
        {found.map(([reason, n]) => (
          <li key={reason}>
            <b className="figure">{count(n)}</b> {visible(reason)}
          </li>
        ))}
      </ul>
    </section>
  );
}
