import { useId } from "react";
import type { ExporterInfo, ParameterInfo } from "../api";
import { inline } from "../pure/visible";
import { useTyped } from "./typed";

/** Said elsewhere: the tokenizer by a name of the server, a template by nobody, and what is left out by a tick. */
const ELSEWHERE = new Set(["tokenizer", "chat_template", "misaligned"]);

interface Props {
  exporter: ExporterInfo;
  given: Record<string, string>;
  onGive: (given: Record<string, string>) => void;
}

/** Whether an exporter writes tokens; the others write one row a span. */
export const writesTokens = (exporter: ExporterInfo) => exporter.parameters.some((one) => one.name === "tokenizer");

/** Every parameter of an exporter, with its sentence; what is left alone keeps its default. */
export function ExportForm({ exporter, given, onGive }: Props) {
  const shown = exporter.parameters.filter((one) => !ELSEWHERE.has(one.name));
  if (shown.length === 0) return null;
  return (
    <section aria-label="Parameters" className="exportform">
      <h3>
        Parameters <span className="muted">of {inline(exporter.name)}</span>
      </h3>
      {shown.map((one) => (
        <Parameter
          key={`${exporter.name} ${one.name}`}
          parameter={one}
          value={given[one.name] ?? ""}
          onChange={(value) => {
            const { [one.name]: _, ...rest } = given;
            onGive(value === "" || value === one.default ? rest : { ...rest, [one.name]: value });
          }}
        />
      ))}
    </section>
  );
}

interface ParameterProps {
  parameter: ParameterInfo;
  /** "" where it is left alone. */
  value: string;
  onChange: (value: string) => void;
}

function Parameter(props: ParameterProps) {
  const { parameter } = props;
  const id = useId();
  return (
    <div className="parameter">
      <label className="mono" htmlFor={id}>
        {inline(parameter.name)}
      </label>
      <Control {...props} id={id} />
      <span className="muted small" id={`${id}-says`}>
        {inline(parameter.sentence)}
      </span>
    </div>
  );
}

type ControlProps = ParameterProps & { id: string };

function Control({ parameter, value, onChange, id }: ControlProps) {
  const shared = { id, "aria-describedby": `${id}-says` };
  if (parameter.choices) {
    return (
      <select {...shared} value={value || parameter.default} onChange={(event) => onChange(event.target.value)}>
        {[...new Set([parameter.default, ...parameter.choices])].map((choice) => (
          <option key={choice}>{choice}</option>
        ))}
      </select>
    );
  }
  if (parameter.type === "bool") {
    const on = (value || parameter.default) === "true";
    return (
      <input {...shared} type="checkbox" checked={on} onChange={(event) => onChange(String(event.target.checked))} />
    );
  }
  return <Text {...{ parameter, value, onChange, id }} />;
}

function Text({ parameter, value, onChange, id }: ControlProps) {
  const [typed, setTyped] = useTyped(value, onChange);
  const numeric = /\b(int|float)\b/.test(parameter.type);
  return (
    <input
      id={id}
      aria-describedby={`${id}-says`}
      value={typed}
      placeholder={parameter.default}
      title={inline(parameter.type)}
      inputMode={numeric ? "decimal" : "text"}
      spellCheck={false}
      autoComplete="off"
      onChange={(event) => setTyped(event.target.value)}
    />
  );
}
