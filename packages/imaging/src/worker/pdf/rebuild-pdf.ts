import { parsePdfValue } from "../privacy/pdf/parse-pdf-value.ts";
import { type PdfInventory, type PdfObject, takePdfInventory } from "../privacy/pdf/pdf-inventory.ts";
import { entryOf, type PdfValue, pdfNameAt } from "../privacy/pdf/pdf-value.ts";
import { pdfFile, type WrittenObject } from "./pdf-file.ts";

/** Attributes that a page inherits from its ancestors (ISO 32000-1, table 30). */
const INHERITABLE = ["Resources", "MediaBox", "CropBox", "Rotate"] as const;
/** Bytes of a rebuilt file. Packed objects are written unpacked, and inherited values once for each page. */
const MAX_BYTES = 64 * 1024 ** 2;
/** Nodes above a page that are looked at. */
const MAX_TREE_HEIGHT = 50;
/** Keys of a page that are written anew. */
const PAGE_LINKS = new Set(["Type", "Parent"]);

/** A value with the bytes that hold it. */
interface Located {
  value: PdfValue;
  content: Buffer;
}

type Entries = ReadonlyMap<string, Located>;

/** A page with its own and inherited entries. `number` is absent for a page that is not an indirect object. */
interface FoundPage {
  number: number | undefined;
  entries: Entries;
}

/**
 * Writes a damaged PDF again: the last revision of each object, a flat page tree, and a cross-reference table. Pages
 * come from the page tree, in its order. If the tree leads to no page, every object of type `Page` is a page, in file
 * order. Returns `null` without any page or for more than 64 MiB, `undefined` when the objects cannot be listed (as {@link takePdfInventory}).
 */
export function rebuildPdf(bytes: Buffer): Buffer | null | undefined {
  const inventory = takePdfInventory(bytes, () => {});
  if (inventory === null) return undefined;
  const file = new DamagedFile(inventory);
  const catalogue = file.findCatalogue();
  const inTree = file.pagesBelow(catalogue?.get("Pages"));
  const pages = inTree.length > 0 ? inTree : file.pagesByType();
  return pages.length === 0 ? null : file.write(catalogue ?? new Map(), pages);
}

class DamagedFile {
  readonly #inventory: PdfInventory;
  /** The last revision of each object. */
  readonly #objects = new Map<number, PdfObject>();

  constructor(inventory: PdfInventory) {
    this.#inventory = inventory;
    for (const object of inventory.objects) this.#objects.set(object.number, object);
  }

  /** The entries of the document's catalogue: as the last trailer names it, else the last object of that type. */
  findCatalogue(): Entries | undefined {
    const roots = this.#inventory.trailers.map((trailer) => entryOf(trailer, "Root")).toReversed();
    const named = roots.flatMap((root) => (root?.kind === "reference" ? [root.number] : []));
    for (const number of [...named, ...[...this.#objects.keys()].toReversed()]) {
      const found = this.#located(number);
      if (found && pdfNameAt(found.value, "Type") === "Catalog") return entriesOf(found);
    }
    return undefined;
  }

  /** The pages of the tree at `root`, in order. Missing and repeated nodes are skipped. */
  pagesBelow(root: Located | undefined): FoundPage[] {
    const pages: FoundPage[] = [];
    const visited = new Set<number>();
    const waiting: { node: Located | undefined; inherited: Entries }[] = [
      { node: root, inherited: new Map() },
    ];
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const { node, inherited } = next;
      const number = node?.value.kind === "reference" ? node.value.number : undefined;
      if (number !== undefined && visited.has(number)) continue;
      if (number !== undefined) visited.add(number);
      const found = this.#resolve(node);
      if (found?.value.kind !== "dictionary") continue;
      const entries = entriesOf(found);
      const kids = this.#resolve(entries.get("Kids"));
      if (kids?.value.kind === "array") {
        const { items } = kids.value;
        const below = new Map([...inherited, ...pick(entries, INHERITABLE)]);
        // Backwards: the last one that is added is the next one that is taken.
        for (const item of items.toReversed()) {
          waiting.push({ node: { value: item, content: kids.content }, inherited: below });
        }
      } else if (isPage(entries)) pages.push({ number, entries: new Map([...inherited, ...entries]) });
    }
    return pages;
  }

  pagesByType(): FoundPage[] {
    return [...this.#objects.keys()].flatMap((number) => {
      const found = this.#located(number);
      if (!found || pdfNameAt(found.value, "Type") !== "Page") return [];
      const own = entriesOf(found);
      return [{ number, entries: new Map([...this.#inherited(own), ...own]) }];
    });
  }

  /** What a page inherits from the nodes that it and they name as their parent. */
  #inherited(page: Entries): Map<string, Located> {
    let parent = page.get("Parent");
    const inherited = new Map<string, Located>();
    for (let height = 0; parent !== undefined && height < MAX_TREE_HEIGHT; height++) {
      const node = this.#resolve(parent);
      const entries = node === undefined ? new Map() : entriesOf(node);
      for (const [key, value] of pick(entries, INHERITABLE)) {
        if (!inherited.has(key)) inherited.set(key, value);
      }
      parent = entries.get("Parent");
    }
    return inherited;
  }

  write(catalogue: Entries, pages: readonly FoundPage[]): Buffer | null {
    let free = 1;
    for (const number of this.#objects.keys()) free = Math.max(free, number + 1);
    const [root, tree] = [free++, free++];
    let length = 0;
    const objects = new Map<number, WrittenObject>();
    const add = (number: number, pieces: WrittenObject): void => {
      for (const piece of pieces) length += piece.length;
      objects.set(number, pieces);
    };
    for (const [number, object] of this.#objects) {
      const written = writeObject(object);
      if (written !== null) add(number, written);
    }
    const kids: string[] = [];
    for (const { number = free++, entries } of pages) {
      if (length > MAX_BYTES) return null;
      const own = [...this.#withUsableBox(entries)].filter(([key]) => !PAGE_LINKS.has(key));
      add(number, [dictionary(own, `/Type/Page/Parent ${tree} 0 R`)]);
      kids.push(`${number} 0 R`);
    }
    objects.set(tree, [Buffer.from(`<</Type/Pages/Count ${kids.length}/Kids[${kids.join(" ")}]>>`)]);
    const others = [...catalogue].filter(([key]) => key !== "Type" && key !== "Pages");
    objects.set(root, [dictionary(others, `/Type/Catalog/Pages ${tree} 0 R`)]);
    return pdfFile(objects, `/Root ${root} 0 R${this.#information()}`);
  }

  /** The trailer's entry for the document information, so that it can be found and removed. */
  #information(): string {
    const info = this.#inventory.trailers.map((trailer) => entryOf(trailer, "Info")).findLast(Boolean);
    return info?.kind === "reference" && this.#objects.has(info.number) ? `/Info ${info.number} 0 R` : "";
  }

  /** The entries of a page without a crop box that shows nothing of its media box. */
  #withUsableBox(entries: Entries): Entries {
    const [media, crop] = [this.#box(entries.get("MediaBox")), this.#box(entries.get("CropBox"))];
    if (media === null || crop === null) return entries;
    const isUsable =
      Math.min(media.right, crop.right) > Math.max(media.left, crop.left) &&
      Math.min(media.top, crop.top) > Math.max(media.bottom, crop.bottom);
    return isUsable ? entries : new Map([...entries].filter(([key]) => key !== "CropBox"));
  }

  #box(located: Located | undefined) {
    const value = this.#resolve(located)?.value;
    const numbers = value?.kind === "array" ? value.items : [];
    const [x1, y1, x2, y2] = numbers.map((item) => (item.kind === "number" ? item.value : Number.NaN));
    if (x1 === undefined || y1 === undefined || x2 === undefined || y2 === undefined) return null;
    return {
      left: Math.min(x1, x2),
      right: Math.max(x1, x2),
      bottom: Math.min(y1, y2),
      top: Math.max(y1, y2),
    };
  }

  #resolve(located: Located | undefined): Located | undefined {
    if (located?.value.kind !== "reference") return located;
    return this.#located(located.value.number);
  }

  #located(number: number): Located | undefined {
    const object = this.#objects.get(number);
    if (object === undefined) return undefined;
    const { content } = object.host;
    const value = parsePdfValue(content, object.start);
    return value === null ? undefined : { value, content };
  }
}

/** Whether a dictionary without kids is a page. Some files omit its type. */
function isPage(entries: Entries): boolean {
  const type = entries.get("Type")?.value;
  if (type?.kind === "name" && type.text === "Page") return true;
  return entries.has("Contents") || entries.has("MediaBox") || entries.has("Resources");
}

function entriesOf({ value, content }: Located): Entries {
  const entries = value.kind === "dictionary" ? value.entries : [];
  return new Map(entries.map((entry) => [entry.key, { value: entry.value, content }]));
}

function pick(entries: Entries, keys: readonly string[]): [string, Located][] {
  return [...entries].filter(([key]) => keys.includes(key));
}

/** An object as it was, with the right length; `null` for a broken one and for the old structure of the file. */
function writeObject({ host: { content }, start, data }: PdfObject): WrittenObject | null {
  const value = parsePdfValue(content, start);
  if (value === null) return null;
  if (data === null) return [content.subarray(value.start, value.end)];
  const type = pdfNameAt(value, "Type");
  if (type === "XRef" || type === "ObjStm") return null;
  const others = [...entriesOf({ value, content })].filter(([key]) => key !== "Length");
  return [
    dictionary(others, `/Length ${data.end - data.start}`),
    Buffer.from("\nstream\n"),
    content.subarray(data.start, data.end),
    Buffer.from("\nendstream"),
  ];
}

function dictionary(entries: Iterable<[string, Located]>, more: string): Buffer {
  const parts: Buffer[] = [Buffer.from(`<<${more}`)];
  for (const [key, { value, content }] of entries) {
    parts.push(Buffer.from(`/${escapeName(key)} `, "latin1"), content.subarray(value.start, value.end));
  }
  return Buffer.concat([...parts, Buffer.from(">>")]);
}

/** Writes characters other than letters, digits and a few marks as `#xx` (ISO 32000-1, 7.3.5). */
function escapeName(name: string): string {
  return name.replace(
    /[^\w.+-]/g,
    (character) => `#${character.charCodeAt(0).toString(16).padStart(2, "0")}`,
  );
}
