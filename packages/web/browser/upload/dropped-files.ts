import { t } from "../../src/texts.ts";

/** The files of a drop, also those in its folders. */
export async function droppedFiles({ items, files }: DataTransfer): Promise<File[]> {
  // Both lists are empty after the event.
  const entries = [...items].map((item) => item.webkitGetAsEntry?.() ?? null);
  const plain = [...files];
  if (!entries.some((entry) => entry?.isDirectory)) return plain;
  const found = await Promise.all(entries.map((entry) => (entry === null ? [] : filesIn(entry))));
  return found.flat();
}

/** What macOS and Windows put into folders and archives. */
const DUST = /^(\..*|thumbs\.db|desktop\.ini|__macosx)$/i;

/** The file of an entry, or all files in its folder. Those that cannot be read are left out, and those that only systems use. */
async function filesIn(entry: FileSystemEntry): Promise<File[]> {
  if (DUST.test(entry.name)) return [];
  try {
    // Chromium has no constructors for `instanceof`: the flag tells the class.
    if (entry.isFile) return [await fileOf(entry as FileSystemFileEntry)];
    const reader = (entry as FileSystemDirectoryEntry).createReader();
    const found: File[] = [];
    for (;;) {
      // Some browsers give at most 100 entries at a time.
      const some = await new Promise<FileSystemEntry[]>((resolve, reject) =>
        reader.readEntries(resolve, reject),
      );
      if (some.length === 0) return found;
      found.push(...(await Promise.all(some.map(filesIn))).flat());
    }
  } catch {
    return [];
  }
}

function fileOf(entry: FileSystemFileEntry): Promise<File> {
  return new Promise((resolve, reject) => entry.file(resolve, reject));
}

/** The files of a paste. Pictures are named after the time of the paste, because browsers call each `image.png`. */
export function pastedFiles(clipboard: DataTransfer | null, now: Date): File[] {
  return [...(clipboard?.files ?? [])].map((file) => {
    if (!/^image\.\w+$/.test(file.name)) return file;
    const ending = file.name.slice("image".length);
    return new File([file], `${t("uploads.pastedName", { time: momentText(now) })}${ending}`, {
      type: file.type,
    });
  });
}

function momentText(moment: Date): string {
  const two = (number: number) => String(number).padStart(2, "0");
  const day = [moment.getFullYear(), two(moment.getMonth() + 1), two(moment.getDate())].join("-");
  return `${day} ${[moment.getHours(), moment.getMinutes(), moment.getSeconds()].map(two).join(".")}`;
}
