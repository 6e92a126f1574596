import { listPath, writeList } from "../pure/url";

/** Where the rollouts of a group of that name are. */
export const groupLink = (project: string, name: string): string =>
  listPath(project) + writeList({ filters: { group: name }, sort: "-created", run: null });
