import { useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { ping, useAway } from "../server";

const PAUSE = 5000;

/** Says that the server is gone; what is on screen stays, and is asked for again once it is back. */
export function Away() {
  const away = useAway();
  const client = useQueryClient();
  useEffect(() => {
    if (!away) return;
    const timer = setInterval(() => void retry(), PAUSE);
    return () => clearInterval(timer);
  });
  const retry = async () => {
    if (await ping()) await client.refetchQueries({ type: "active" });
  };
  if (!away) return null;
  return (
    <div className="away" role="alert">
      The server does not answer. What you see is what it last said.
      <button type="button" onClick={() => void retry()}>
        Retry
      </button>
    </div>
  );
}
