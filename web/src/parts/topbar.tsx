import { setTheme, THEMES, useTheme } from "../preferences";
import { exportsPath, listPath, type Route, uploadPath } from "../pure/url";
import { inline } from "../pure/visible";
import { Go } from "./go";

/** Where one is, where one can go, and the colours. */
export function TopBar({ route, project }: { route: Route; project: string }) {
  const theme = useTheme();
  const next = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length] ?? "system";
  return (
    <header className="topbar">
      <Go to="/" className="brand">
        trajcredit
      </Go>
      <span className="muted">/ {inline(project)}</span>
      <nav aria-label="Screens">
        <Go to={listPath(project)} aria-current={route.view === "list" ? "page" : undefined}>
          Trajectories
        </Go>
        <Go to={exportsPath(project)} aria-current={route.view === "exports" ? "page" : undefined}>
          Exports
        </Go>
        <Go to={uploadPath(project)} aria-current={route.view === "upload" ? "page" : undefined}>
          Upload
        </Go>
      </nav>
      <button type="button" className="quiet end" onClick={() => setTheme(next)}>
        colours: {theme}
      </button>
    </header>
  );
}
