/**
 * Characters that would act on the reader instead of being read, shown as marks: control characters, bidi overrides,
 * zero-width characters, lone surrogates. Line feeds, tabs and the selector of coloured emoji stay.
 */

const HIDDEN = /(?!\n|\t|\ufe0f)[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

export function visible(text: string): string {
  return text.replace(/\r\n/g, "\n").replace(HIDDEN, mark);
}

/** On one line: for names and ids. */
export function inline(text: string): string {
  return visible(text).replace(/\n/g, "␊").replace(/\t/g, "␉");
}

function mark(char: string): string {
  const code = char.codePointAt(0) ?? 0;
  if (code < 0x20) return String.fromCodePoint(0x2400 + code);
  return code === 0x7f ? "␡" : `⟦U+${code.toString(16).toUpperCase().padStart(4, "0")}⟧`;
}
