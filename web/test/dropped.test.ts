import { expect, test } from "vitest";
import { dropped } from "../src/dropped";

const file = (name: string) => ({
  name,
  isFile: true,
  file: (done: (one: File) => void) => done(new File([""], name)),
});
/** A reader gives two entries at a time. */
const folder = (name: string, ...inside: { name: string }[]) => ({
  name,
  isFile: false,
  createReader: () => {
    const left = [...inside];
    return { readEntries: (done: (some: object[]) => void) => done(left.splice(0, 2)) };
  },
});
const drop = (entries: (object | null)[], files: File[] = []) =>
  dropped({ items: entries.map((one) => ({ webkitGetAsEntry: () => one })), files } as unknown as DataTransfer);

test("a folder gives all its files, however deep, in order, without hidden ones", async () => {
  const logs = folder(
    "logs",
    file("c"),
    file("a"),
    folder("b", file("d"), file(".hidden"), folder("e", file("f"))),
    folder(".git", file("x")),
  );
  expect((await drop([file("z"), logs])).map((one) => one.name)).toEqual(["z", "a", "d", "f", "c"]);
});

test("what has no entry is taken as the files there are", async () => {
  expect((await drop([null], [new File([""], "a")])).map((one) => one.name)).toEqual(["a"]);
  expect(await drop([])).toEqual([]);
});
