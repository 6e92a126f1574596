import { useEffect } from "react";
import { go, useRoute } from "./location";
import { useNotice } from "./notice";
import { Away } from "./parts/away";
import { TopBar } from "./parts/topbar";
import { listPath, type Route } from "./pure/url";
import { ExportsView } from "./views/exports";
import { TrajectoryList } from "./views/list";
import { Missing } from "./views/missing";
import { TrajectoryView } from "./views/trajectory";
import { UploadView } from "./views/upload";

const DEFAULT = "default";

const TITLES: Partial<Record<Route["view"], string>> = {
  upload: "Upload · trajcredit",
  exports: "Export preview · trajcredit",
};

export function App() {
  const route = useRoute();
  const project = "project" in route ? route.project : DEFAULT;
  const said = useNotice();
  useEffect(() => {
    if (route.view === "start") go(listPath(DEFAULT), "replace");
    if (route.view !== "trajectory") document.title = TITLES[route.view] ?? "trajcredit";
  });
  return (
    <>
      <TopBar route={route} project={project} />
      <Away />
      <View route={route} />
      <output className="notice">{said}</output>
    </>
  );
}

function View({ route }: { route: Route }) {
  if (route.view === "list") return <TrajectoryList key={route.project} project={route.project} />;
  if (route.view === "upload") return <UploadView key={route.project} project={route.project} />;
  if (route.view === "exports") return <ExportsView key={route.project} project={route.project} />;
  if (route.view === "trajectory") {
    return <TrajectoryView key={route.trajectory} project={route.project} id={route.trajectory} />;
  }
  return route.view === "nowhere" ? <Missing what={`a screen at ${location.pathname}`} /> : null;
}
