/** What the reader is called where edits ask for a name: kept in the browser. */

const KEY = "trajcredit.person";

export function person(): string {
  try {
    return localStorage.getItem(KEY) ?? "";
  } catch {
    return "";
  }
}

export function remember(name: string): void {
  try {
    localStorage.setItem(KEY, name);
  } catch {
    // a browser that keeps nothing asks again
  }
}
