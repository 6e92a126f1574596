/** What was dropped, with the files of folders, however deep; a file keeps its own name. */

/** Files in the order of their paths; hidden ones of folders are left out, as they are no logs. */
export async function dropped(data: DataTransfer): Promise<File[]> {
  // all of it before the first wait: the browser empties the list after the event
  const entries = [...data.items].map((item) => item.webkitGetAsEntry?.() ?? null);
  if (entries.length === 0 || entries.every((entry) => entry === null)) return [...data.files];
  const found: File[] = [];
  for (const entry of entries) if (entry) found.push(...(await filesOf(entry)));
  return found;
}

async function filesOf(entry: FileSystemEntry): Promise<File[]> {
  if (entry.isFile) return [await new Promise<File>((done, fail) => (entry as FileSystemFileEntry).file(done, fail))];
  const found: File[] = [];
  for (const inside of await contents((entry as FileSystemDirectoryEntry).createReader())) {
    if (!inside.name.startsWith(".")) found.push(...(await filesOf(inside)));
  }
  return found;
}

/** A reader gives some entries at a time, and none after the last. */
async function contents(reader: FileSystemDirectoryReader): Promise<FileSystemEntry[]> {
  const found: FileSystemEntry[] = [];
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((done, fail) => reader.readEntries(done, fail));
    if (some.length === 0) return found.sort((a, b) => (a.name < b.name ? -1 : 1));
    found.push(...some);
  }
}
