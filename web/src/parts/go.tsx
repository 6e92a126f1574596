import type { ComponentProps, MouseEvent } from "react";
import { go } from "../location";

/** A link within the app: a plain anchor that opens in place unless the reader asked for a tab of its own. */
export function Go({ to, onClick, ...rest }: ComponentProps<"a"> & { to: string }) {
  const follow = (event: MouseEvent<HTMLAnchorElement>) => {
    onClick?.(event);
    if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    go(to);
  };
  return <a href={to} onClick={follow} {...rest} />;
}
