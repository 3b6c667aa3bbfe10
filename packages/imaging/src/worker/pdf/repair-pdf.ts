import { isServiceError } from "@outrigger/core/values";
import {
  PDFArray,
  type PDFContext,
  PDFDict,
  PDFInvalidObject,
  PDFName,
  PDFNumber,
  type PDFObject,
  PDFParser,
  PDFRef,
} from "../privacy/pdf/library.ts";
import { dictionaryOf, entryOf, itemsOf, nameOf, numberOf } from "../privacy/pdf/pdf-values.ts";
import { inPieces, resavePdf } from "../privacy/pdf/saved-pdf.ts";
import { readPageSize, usePdfDocument } from "./pdf-document.ts";
import { pdfFile, type WrittenObject } from "./pdf-file.ts";

/** How far into a file PDFium looks for its header. */
const MAX_HEADER_START = 1024;
const HEADER = "%PDF-1.7\n";
/** Levels of a page tree. */
const MAX_TREE_HEIGHT = 50;
/** What a page has, also one whose type is missing. */
const PAGE_KEYS = ["Contents", "MediaBox", "Resources", "Parent"];

/**
 * Makes a damaged PDF readable. PDFium itself replaces wrong cross-reference tables and trailers. This function also
 * adds a missing header, and rebuilds a page tree that is damaged. A repaired file begins with a header, so other programs can
 * open it.
 *
 * Returns `bytes` itself if PDFium opens it. Rejects with `unsupported_media` as {@link usePdfDocument} does, with the
 * reason for the unrepaired file.
 */
export async function repairPdf(bytes: Buffer): Promise<Buffer> {
  const fault = await findFault(bytes);
  if (fault === null) return bytes;
  const headed = withHeader(bytes);
  if (headed !== null) {
    if (headed !== bytes && (await findFault(headed)) === null) return headed;
    const rebuilt = await rebuild(headed);
    if (rebuilt !== null && (await findFault(rebuilt)) === null) return rebuilt;
  }
  if (fault.page === "first") throw fault.error;
  return bytes;
}

/** Why PDFium cannot open the first or the last page. */
interface Fault {
  page: "first" | "last";
  error: unknown;
}

async function findFault(bytes: Buffer): Promise<Fault | null> {
  let page: Fault["page"] = "first";
  try {
    await usePdfDocument(bytes, (document) => {
      readPageSize(document, 0);
      // A count that is too high makes the last pages missing.
      page = "last";
      readPageSize(document, document.pageCount - 1);
    });
    return null;
  } catch (error) {
    if (isServiceError(error, "unsupported_media")) return { page, error };
    throw error;
  }
}

/** The file with its header at the start. `null` for a file without objects, which is not a PDF. */
function withHeader(bytes: Buffer): Buffer | null {
  const firstObject = /\d{1,10}\s+\d{1,5}\s+obj/.exec(bytes.toString("latin1"))?.index;
  if (firstObject === undefined) return null;
  const header = bytes.subarray(0, firstObject).indexOf("%PDF-", 0, "latin1");
  if (header === -1) return Buffer.concat([Buffer.from(HEADER), bytes.subarray(firstObject)]);
  return header < MAX_HEADER_START ? bytes : bytes.subarray(header);
}

/** The file with a page tree of the pages that it has; `null` for none, and for a file that cannot be parsed. */
async function rebuild(bytes: Buffer): Promise<Buffer | null> {
  try {
    const parse = (file: Buffer) =>
      PDFParser.forBytesWithOptions(file, Number.POSITIVE_INFINITY).parseDocument();
    const parsed = await parse(bytes);
    // The objects of an encrypted file that opens without a password are read by PDFium.
    const isEncrypted = parsed.trailerInfo.Encrypt !== undefined;
    return new DamagedPdf(isEncrypted ? await parse((await resavePdf(bytes)).bytes) : parsed).write();
  } catch {
    // The reason for the whole file says more.
    return null;
  }
}

/** Whether an object could not be parsed because its stream has no end. */
function isLostStream(object: PDFObject): boolean {
  if (!(object instanceof PDFInvalidObject)) return false;
  const bytes = Buffer.alloc(object.sizeInBytes());
  object.copyBytesInto(bytes, 0);
  return bytes.includes("stream");
}

/** The objects of a damaged file, as they are read in the order of the file. */
class DamagedPdf {
  readonly #context: PDFContext;
  readonly #visited = new Set<PDFObject>();

  constructor(context: PDFContext) {
    this.#context = context;
  }

  /** The objects with a page tree; `null` without a page, and when a stream was lost. */
  write(): Buffer | null {
    const context = this.#context;
    // It may be what a page shows.
    if (context.enumerateIndirectObjects().some(([, object]) => isLostStream(object))) return null;
    const catalogue = context.lookup(context.trailerInfo.Root);
    const root =
      catalogue instanceof PDFDict ? catalogue : (this.#ofType("Catalog").at(-1)?.[1] ?? context.obj({}));
    const named = entryOf(root, "Pages");
    const tree = named instanceof PDFRef && this.#repair(named, 0) > 0 ? named : this.#listPages();
    if (tree === null || !(root instanceof PDFDict)) return null;
    root.set(PDFName.of("Type"), PDFName.of("Catalog"));
    root.set(PDFName.of("Pages"), tree);
    const { objectNumber } = context.register(root);
    const old = new Set([...this.#ofType("XRef"), ...this.#ofType("ObjStm")].map(([reference]) => reference));
    const numbers = new Map<number, number>();
    const numberOfObject = (number: number) =>
      numbers.get(number) ?? numbers.set(number, numbers.size + 1).size;
    const refer = (to: PDFRef) => `${numberOfObject(to.objectNumber)} 0 R`;
    const written = context
      .enumerateIndirectObjects()
      .flatMap(([reference, object]): [number, WrittenObject][] =>
        old.has(reference) ? [] : [[numberOfObject(reference.objectNumber), inPieces(object, refer)]],
      );
    const { Info } = context.trailerInfo;
    const info = Info instanceof PDFRef ? `/Info ${refer(Info)}` : "";
    return pdfFile(new Map(written), `/Root ${numberOfObject(objectNumber)} 0 R${info}`);
  }

  #ofType(type: string): [PDFRef, PDFObject][] {
    const all = this.#context.enumerateIndirectObjects();
    return all.filter(([, object]) => nameOf(entryOf(object, "Type")) === type);
  }

  /** Leaves in a node what is there, with its type and its parent. Returns the number of its pages. */
  #repair(reference: PDFRef, depth: number): number {
    const node = this.#context.lookup(reference);
    if (!(node instanceof PDFDict) || this.#visited.has(node) || depth > MAX_TREE_HEIGHT) return 0;
    this.#visited.add(node);
    this.#repairBox(node);
    const kids = this.#context.lookup(entryOf(node, "Kids"));
    node.set(PDFName.of("Type"), PDFName.of(kids === undefined ? "Page" : "Pages"));
    if (kids === undefined) return PAGE_KEYS.some((key) => node.has(PDFName.of(key))) ? 1 : 0;
    let count = 0;
    const kept = PDFArray.withContext(this.#context);
    for (const item of itemsOf(kids)) {
      const kid = item instanceof PDFDict ? this.#context.register(item) : item;
      const pages = kid instanceof PDFRef ? this.#repair(kid, depth + 1) : 0;
      if (pages === 0) continue;
      count += pages;
      kept.push(kid);
      dictionaryOf(this.#context.lookup(kid))?.set(PDFName.of("Parent"), reference);
    }
    node.set(PDFName.of("Kids"), kept);
    node.set(PDFName.of("Count"), PDFNumber.of(count));
    return count;
  }

  /** A tree of all objects that are pages; `null` without any. */
  #listPages(): PDFRef | null {
    const pages = this.#ofType("Page");
    for (const [, page] of pages) this.#repairBox(page);
    const kids = pages.map(([reference]) => reference);
    const tree = this.#context.obj({ Type: "Pages", Count: kids.length, Kids: kids });
    return kids.length === 0 ? null : this.#context.register(tree);
  }

  /** Removes a crop box that shows nothing of the media box. */
  #repairBox(node: PDFObject): void {
    const [media, crop] = ["MediaBox", "CropBox"].map((key) => {
      const [x1 = 0, y1 = 0, x2 = 0, y2 = 0] = itemsOf(this.#context.lookup(entryOf(node, key))).map(
        numberOf,
      );
      return {
        left: Math.min(x1, x2),
        right: Math.max(x1, x2),
        bottom: Math.min(y1, y2),
        top: Math.max(y1, y2),
      };
    });
    if (media === undefined || crop === undefined) return;
    const isUsable =
      Math.min(media.right, crop.right) > Math.max(media.left, crop.left) &&
      Math.min(media.top, crop.top) > Math.max(media.bottom, crop.bottom);
    if (!isUsable) dictionaryOf(node)?.delete(PDFName.of("CropBox"));
  }
}
