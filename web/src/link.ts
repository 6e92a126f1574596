/** The link to what is looked at: the address, unless the screen knows a link that shows the same later too. */

let screen: (() => string) | null = null;

/** For as long as a screen is shown; undone by what it returns. */
export function offerLink(link: () => string): () => void {
  screen = link;
  return () => {
    if (screen === link) screen = null;
  };
}

export const linkHere = (): string => screen?.() ?? location.href;
