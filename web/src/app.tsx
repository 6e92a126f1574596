import { lazy, useEffect, useState } from "react";
import { useKeys } from "./keys";
import { go, useRoute } from "./location";
import { useNotice } from "./notice";
import { Away } from "./parts/away";
import { Fetched } from "./parts/fetched";
import { Help } from "./parts/help";
import { TopBar } from "./parts/topbar";
import { listPath, type Route } from "./pure/url";
import { showSheet, useSheetOpen } from "./sheet";
import { TrajectoryList } from "./views/list";
import { Missing } from "./views/missing";
import { TrajectoryView } from "./views/trajectory";
import { UploadView } from "./views/upload";

const DEFAULT = "default";

/** What is fetched when it is first looked at: the first load has the list and the trajectory. */
const ExportsView = lazy(() => import("./views/exports").then((module) => ({ default: module.ExportsView })));
const GroupsView = lazy(() => import("./views/groups").then((module) => ({ default: module.GroupsView })));
const GroupView = lazy(() => import("./views/group").then((module) => ({ default: module.GroupView })));
const DashboardView = lazy(() => import("./views/dashboard").then((module) => ({ default: module.DashboardView })));
const LabelsView = lazy(() => import("./views/labels").then((module) => ({ default: module.LabelsView })));
const RunsView = lazy(() => import("./views/runs").then((module) => ({ default: module.RunsView })));
const Palette = lazy(() => import("./parts/palette").then((module) => ({ default: module.Palette })));
const RunView = lazy(() => import("./views/run").then((module) => ({ default: module.RunView })));
const JudgingsView = lazy(() => import("./views/judgings").then((module) => ({ default: module.JudgingsView })));
const JudgingView = lazy(() => import("./views/judging").then((module) => ({ default: module.JudgingView })));

const TITLES: Partial<Record<Route["view"], string>> = {
  upload: "Upload · trajcredit",
  exports: "Export preview · trajcredit",
  groups: "Groups · trajcredit",
  group: "Group · trajcredit",
  dashboard: "Dashboard · trajcredit",
  labels: "Labels · trajcredit",
  runs: "Runs · trajcredit",
  run: "Run · trajcredit",
  judgings: "Judges · trajcredit",
  judging: "Judging · trajcredit",
};

export function App() {
  const route = useRoute();
  const project = "project" in route ? route.project : DEFAULT;
  const said = useNotice();
  const [palette, setPalette] = useState(false);
  const sheet = useSheetOpen();
  const keys = () => showSheet(true);
  useKeys({ "?": keys, "Shift+?": keys });
  usePaletteKey(() => setPalette(true));
  useEffect(() => {
    if (route.view === "start") go(listPath(DEFAULT), "replace");
    if (route.view !== "trajectory") document.title = TITLES[route.view] ?? "trajcredit";
  });
  return (
    <>
      <TopBar route={route} project={project} onPalette={() => setPalette(true)} onKeys={keys} />
      <Away />
      <Fetched key={route.view} waiting={<p className="loading">Loading…</p>}>
        <View route={route} />
      </Fetched>
      {sheet && <Help onClose={() => showSheet(false)} />}
      {palette && (
        <Fetched>
          <Palette project={project} onKeys={keys} onClose={() => setPalette(false)} />
        </Fetched>
      )}
      <output className="notice">{said}</output>
    </>
  );
}

/** Ctrl K or Cmd K, wherever the focus is; no single-key shortcut, so it is never off. */
function usePaletteKey(open: () => void): void {
  useEffect(() => {
    const look = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== "k" || event.ctrlKey === event.metaKey || event.shiftKey || event.altKey) return;
      event.preventDefault();
      if (!document.querySelector("dialog[open]")) open();
    };
    addEventListener("keydown", look);
    return () => removeEventListener("keydown", look);
  });
}

function View({ route }: { route: Route }) {
  if (route.view === "list") return <TrajectoryList key={route.project} project={route.project} />;
  if (route.view === "upload") return <UploadView key={route.project} project={route.project} />;
  if (route.view === "exports") return <ExportsView key={route.project} project={route.project} />;
  if (route.view === "groups") return <GroupsView key={route.project} project={route.project} />;
  if (route.view === "group") return <GroupView key={route.group} project={route.project} group={route.group} />;
  if (route.view === "dashboard") return <DashboardView key={route.project} project={route.project} />;
  if (route.view === "labels") return <LabelsView key={route.project} project={route.project} />;
  if (route.view === "runs") return <RunsView key={route.project} project={route.project} />;
  if (route.view === "run") return <RunView key={route.run} project={route.project} id={route.run} />;
  if (route.view === "judgings") return <JudgingsView key={route.project} project={route.project} />;
  if (route.view === "judging") {
    return <JudgingView key={route.judging} project={route.project} id={route.judging} />;
  }
  if (route.view === "trajectory") {
    return <TrajectoryView key={route.trajectory} project={route.project} id={route.trajectory} />;
  }
  return route.view === "nowhere" ? <Missing what={`a screen at ${location.pathname}`} /> : null;
}
