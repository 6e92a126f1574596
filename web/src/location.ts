/** Where we are, and how to go elsewhere: the URL is the only place where view state lives. */

import { navigate, usePathname, useSearch } from "wouter/use-browser-location";
import {
  type ExportView,
  type ListView,
  type Route,
  readExport,
  readList,
  readView,
  route,
  type View,
  writeExport,
  writeList,
  writeView,
} from "./pure/url";

export type How = "push" | "replace";
type Change<T> = (change: Partial<T>, how?: How) => void;

export const useRoute = (): Route => route(usePathname());

export function go(to: string, how: How = "push"): void {
  navigate(to, { replace: how === "replace" });
}

export function useView(): [View, Change<View>] {
  const change: Change<View> = (part, how = "replace") =>
    go(location.pathname + writeView({ ...readView(location.search), ...part }), how);
  return [readView(useSearch()), change];
}

export function useList(): [ListView, Change<ListView>] {
  const change: Change<ListView> = (part, how = "replace") =>
    go(location.pathname + writeList({ ...readList(location.search), ...part }), how);
  return [readList(useSearch()), change];
}

export function useExport(): [ExportView, Change<ExportView>] {
  const change: Change<ExportView> = (part, how = "replace") =>
    go(location.pathname + writeExport({ ...readExport(location.search), ...part }), how);
  return [readExport(useSearch()), change];
}
