import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { shortName, shownName } from "../src/pure/name";
import { inline } from "../src/pure/visible";

describe("a name", () => {
  test("of spaces alone, or of nothing, is not invisible", () => {
    expect(["", "  ", "\u3000", "\t", " a "].map(shownName)).toEqual([
      "(blank)",
      "(blank: ␣␣)",
      "(blank: ␣)",
      "␉",
      " a ",
    ]);
  });

  test("that is too long keeps its beginning and its end", () => {
    expect(shortName("flight-1")).toBe("flight-1");
    expect(shortName(`${"x".repeat(400)}~1`, 9)).toBe("xxxx…xx~1");
    expect(shortName("abcdefghij", 10)).toBe("abcdefghij");
    expect(shortName(`a${"😀".repeat(20)}z`, 5)).toBe("a😀…😀z");
  });

  test("is never longer than asked for, and whole where it fits", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", minLength: 1 }), fc.integer({ min: 3, max: 80 }), (name, most) => {
        const short = shortName(name, most);
        expect([...short].length).toBeLessThanOrEqual(most);
        if ([...inline(name)].length <= most && inline(name).trim() !== "") expect(short).toBe(inline(name));
      }),
    );
  });
});
