import { Refused } from "../api";
import { Trouble } from "../parts/trouble";
import { inline } from "../pure/visible";

/** Says what was looked for: never a blank page. */
export function Missing({ error, what }: { error?: Error; what: string }) {
  const absent = error === undefined || (error instanceof Refused && error.status === 404);
  return (
    <main className="page">
      <h1>{absent ? "Not here" : "Not shown"}</h1>
      <p>Looked for: {inline(what)}</p>
      {error && <Trouble error={error} what={absent ? "the server says" : "the request failed"} />}
      <p>
        <a href="/">All trajectories</a>
      </p>
    </main>
  );
}
