import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useId, useState } from "react";
import type { ParameterInfo } from "../api";
import { type JudgeInfo, type Judges, type Judging, judgesApi, useJudges } from "../api-judges";
import { choices, hidden } from "../pure/judges";
import { inline } from "../pure/visible";
import { Trouble } from "./trouble";

interface Props {
  project: string;
  onStarted: (judging: Judging) => void;
}

/** Asks a judge about the trajectories of the project, or of one data set. */
export function JudgingStart({ project, onStarted }: Props) {
  const judges = useJudges();
  const client = useQueryClient();
  const [name, setName] = useState("rules");
  const [given, setGiven] = useState<Record<string, string>>({});
  const [dataset, setDataset] = useState("");
  const start = useMutation({
    mutationFn: () =>
      judgesApi.start(project, { judge: name, parameters: filled(given), dataset: dataset.trim() || null }),
    onSuccess: async (begun) => {
      await client.invalidateQueries({ queryKey: ["judgings", project] });
      onStarted(begun);
    },
  });
  if (judges.error && !judges.data) return <Trouble error={judges.error} what="the judges" />;
  if (!judges.data) return <p className="loading">Loading…</p>;
  const known = judges.data;
  const offered = known.items.filter((one) => one.over_http);
  const chosen = offered.find((one) => one.name === name);
  const mute = chosen?.asks_model === true && known.models.length === 0;
  return (
    <form
      className="scorenow judgenow"
      onSubmit={(event) => {
        event.preventDefault();
        start.mutate();
      }}
    >
      <h2>Ask a judge</h2>
      <label>
        judge{" "}
        <select
          value={name}
          onChange={(event) => {
            setName(event.target.value);
            setGiven({});
          }}
        >
          {offered.map((one) => (
            <option key={one.name} value={one.name}>
              {inline(one.name)}
            </option>
          ))}
        </select>
      </label>
      {chosen && <p className="muted small">{inline(chosen.summary)}</p>}
      {mute && (
        <p className="warns">
          It asks a model, and this server has none: <code>trajcredit serve --judges FILE</code> names those that may be
          asked.
        </p>
      )}
      {chosen && !mute && <Options {...{ chosen, known, given }} onGive={setGiven} />}
      <label className="option">
        <span>data set</span>
        <input value={dataset} placeholder="all trajectories" onChange={(event) => setDataset(event.target.value)} />
        <span className="muted small">Only trajectories of this data set; left empty, all of the project.</span>
      </label>
      <button type="submit" className="primary" disabled={start.isPending || !chosen || mute}>
        {start.isPending ? "Asking…" : dataset.trim() ? "Judge this data set" : "Judge all trajectories"}
      </button>
      <p className="muted small">{elsewhere(known.items)}</p>
      {start.error && <Trouble error={start.error} what="not started" />}
    </form>
  );
}

/** Judges that no request can ask, and what can be done instead. */
function elsewhere(judges: readonly JudgeInfo[]): string {
  const names = judges.filter((one) => !one.over_http).map((one) => inline(one.name));
  if (names.length === 0) return "";
  return `Not offered here, since they read files: ${names.join(", ")}. POST /api/v1/judgings/upload takes what they say.`;
}

interface OptionsProps {
  chosen: JudgeInfo;
  known: Judges;
  given: Record<string, string>;
  onGive: (given: Record<string, string>) => void;
}

function Options({ chosen, known, given, onGive }: OptionsProps) {
  return chosen.parameters
    .filter(({ name }) => !hidden(name))
    .map((parameter) => (
      <Option
        key={parameter.name}
        {...{ parameter }}
        offered={choices(parameter, known)}
        value={given[parameter.name] ?? ""}
        onChange={(value) => onGive({ ...given, [parameter.name]: value })}
      />
    ));
}

interface OptionProps {
  parameter: ParameterInfo;
  offered: [value: string, text: string][] | null;
  value: string;
  onChange: (value: string) => void;
}

function Option({ parameter, offered, value, onChange }: OptionProps) {
  const id = useId();
  const shared = { id, value, "aria-describedby": `${id}-is` };
  return (
    <div className="option">
      <label htmlFor={id}>{inline(parameter.name)}</label>
      {offered === null ? (
        <input {...shared} placeholder={inline(parameter.default)} onChange={(event) => onChange(event.target.value)} />
      ) : (
        <select {...shared} onChange={(event) => onChange(event.target.value)}>
          <option value="">{inline(parameter.default)}</option>
          {offered
            .filter(([one]) => one !== parameter.default)
            .map(([one, text]) => (
              <option key={one} value={one}>
                {inline(text)}
              </option>
            ))}
        </select>
      )}
      <span id={`${id}-is`} className="muted small">
        {inline(parameter.sentence)}
      </span>
    </div>
  );
}

/** What was typed, as the command line takes it; what was left alone keeps its default. */
function filled(given: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value.trim() !== ""));
}
