import { Refused } from "../api";
import { visible } from "../pure/visible";

/** What was looked for and why it is not shown. */
export function Trouble({ error, what }: { error: Error; what: string }) {
  const title = error instanceof Refused ? `${what}: ${error.problem.title}` : `${what}: ${error.message}`;
  return (
    <div className="trouble" role="alert">
      <strong>{visible(title)}</strong>
      {error instanceof Refused && error.problem.detail !== error.problem.title && (
        <p>{visible(error.problem.detail)}</p>
      )}
    </div>
  );
}
