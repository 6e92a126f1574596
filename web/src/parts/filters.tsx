import type { FilterName, ListView } from "../pure/url";
import { Combobox } from "./combobox";
import { useTyped } from "./typed";

type Given = ListView["filters"];

interface Props {
  project: string;
  filters: Given;
  onChange: (filters: Given) => void;
}

/** What the list is narrowed to; all of it is in the URL. */
export function Filters({ project, filters, onChange }: Props) {
  const set = (name: FilterName, value: string) => {
    const { [name]: _, ...rest } = filters;
    onChange(value === "" ? rest : { ...rest, [name]: value });
  };
  const field = (name: FilterName, label: string, placeholder = "", numeric = false) => (
    <Field
      key={name}
      {...{ label, placeholder, numeric }}
      value={filters[name] ?? ""}
      onChange={(value) => set(name, value)}
    />
  );
  const flag = (name: FilterName, label: string, title: string) => (
    <label title={title}>
      <input
        type="checkbox"
        checked={filters[name] === "true"}
        onChange={(event) => set(name, event.target.checked ? "true" : "")}
      />{" "}
      {label}
    </label>
  );
  const named = (name: "group" | "tool", what: "groups" | "tools") => (
    <Combobox {...{ project, what }} label={name} value={filters[name] ?? ""} onChange={(value) => set(name, value)} />
  );
  return (
    <search className="filters">
      <label>
        outcome{" "}
        <select value={filters.outcome ?? ""} onChange={(event) => set("outcome", event.target.value)}>
          <option value="">any</option>
          <option value="fail">failed</option>
          <option value="pass">passed</option>
          <option value="unscored">no reward yet</option>
        </select>
      </label>
      <span className="group">
        {field("outcome_min", "reward from", "0", true)}
        {field("outcome_max", "to", "1", true)}
      </span>
      {field("text", "id", "contains")}
      {named("group", "groups")}
      {named("tool", "tools")}
      {flag("errors", "has a failed call", "a result of a tool call says that it failed")}
      {flag("no_group", "no group", "no other rollout is in its group, so there is nothing to hold its reward against")}
      {flag(
        "zero_variance",
        "zero-variance group",
        "at least two rollouts of its group are scored, and all alike: a baseline leaves nothing",
      )}
      <label>
        labels{" "}
        <select value={filters.labelled ?? ""} onChange={(event) => set("labelled", event.target.value)}>
          <option value="">any</option>
          <option value="false">unlabelled</option>
          <option value="true">labelled</option>
        </select>
      </label>
      <label>
        <input
          type="checkbox"
          checked={filters.has === "override"}
          onChange={(event) => set("has", event.target.checked ? "override" : "")}
        />{" "}
        has an edited edge
      </label>
      <details
        className="more"
        open={["dataset", "task", "policy_version", "model", "step_min", "step_max"].some((n) => n in filters)}
      >
        <summary>more</summary>
        {field("dataset", "data set")}
        {field("task", "task")}
        {field("policy_version", "policy")}
        {field("model", "model")}
        <span className="group">
          {field("step_min", "step from", "", true)}
          {field("step_max", "to", "", true)}
        </span>
      </details>
      {Object.keys(filters).length > 0 && (
        <button type="button" className="quiet" onClick={() => onChange({})}>
          clear
        </button>
      )}
    </search>
  );
}

interface FieldProps {
  label: string;
  value: string;
  placeholder: string;
  numeric: boolean;
  onChange: (value: string) => void;
}

/** A text field whose value goes into the URL once typing pauses. */
export function Field({ label, value, placeholder, numeric, onChange }: FieldProps) {
  const [typed, setTyped] = useTyped(value, onChange);
  return (
    <label>
      {label}{" "}
      <input
        className={numeric ? "number" : ""}
        inputMode={numeric ? "decimal" : "text"}
        value={typed}
        placeholder={placeholder}
        onChange={(event) => setTyped(event.target.value)}
      />
    </label>
  );
}
