import { setTheme, THEMES, useTheme } from "../preferences";
import {
  dashboardPath,
  exportsPath,
  groupsPath,
  judgesPath,
  labelsPath,
  listPath,
  type Route,
  runsPath,
  uploadPath,
} from "../pure/url";
import { inline } from "../pure/visible";
import { Go } from "./go";

type Screen = [label: string, path: (project: string) => string, views: Route["view"][]];

export const SCREENS: Screen[] = [
  ["Trajectories", listPath, ["list"]],
  ["Groups", groupsPath, ["groups", "group"]],
  ["Dashboard", dashboardPath, ["dashboard"]],
  ["Labels", labelsPath, ["labels"]],
  ["Runs", runsPath, ["runs", "run"]],
  ["Judges", judgesPath, ["judgings", "judging"]],
  ["Exports", exportsPath, ["exports"]],
  ["Upload", uploadPath, ["upload"]],
];

interface Props {
  route: Route;
  project: string;
  onPalette: () => void;
  onKeys: () => void;
}

/** Where one is, where one can go, and the colours. */
export function TopBar({ route, project, onPalette, onKeys }: Props) {
  const theme = useTheme();
  const next = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length] ?? "system";
  return (
    <header className="topbar">
      <Go to="/" className="brand">
        trajcredit
      </Go>
      <span className="muted">/ {inline(project)}</span>
      <nav aria-label="Screens">
        {SCREENS.map(([label, to, views]) => (
          <Go key={label} to={to(project)} aria-current={views.includes(route.view) ? "page" : undefined}>
            {label}
          </Go>
        ))}
      </nav>
      <button type="button" className="quiet end" onClick={onPalette} aria-label="Ctrl K: go to or do">
        Ctrl K
      </button>
      <button type="button" className="quiet" onClick={onKeys} aria-label="keys">
        ?
      </button>
      <button type="button" className="quiet" onClick={() => setTheme(next)} aria-label={`colours: ${theme}`}>
        <span className="word">colours: </span>
        {theme}
      </button>
    </header>
  );
}
