import { savePdf, usePdfDocument } from "../../pdf/pdf-document.ts";
import { pdfFile, type WrittenObject } from "../../pdf/pdf-file.ts";
import { damaged, unreadable } from "../../picture.ts";
import { freedObjects } from "./freed-objects.ts";
import { PDFContext, PDFName, PDFNumber, type PDFObject, PDFRawStream, PDFRef } from "./library.ts";
import { inSyntax, parseValue, type Resolve } from "./pdf-values.ts";

/** More than a tagged document of ten thousand pages has. */
const MAX_OBJECTS = 500_000;
const ENTRY_BYTES = 20;
/** Pages that are listed at most although they are missing. */
const MAX_MISSING_PAGES = 100;

/** A document as PDFium reads it: it saved the document before, so each object exists once and nothing is encrypted. */
export interface SavedPdf {
  bytes: Buffer;
  /** The numbers of the objects of its pages, in order. Pages that PDFium does not find are left out. */
  pages: readonly number[];
  /** The numbers of the objects that the document calls free. */
  freed: ReadonlySet<number>;
}

/** Saves a document by PDFium. Rejects with `unsupported_media` when opening it needs a password. */
export function resavePdf(bytes: Buffer): Promise<SavedPdf> {
  return usePdfDocument(bytes, (document) => {
    const { pdfium, handle, pageCount } = document;
    const pages: number[] = [];
    for (let index = 0; index < pageCount && index < pages.length + MAX_MISSING_PAGES; index++) {
      const number = pdfium.EPDFDoc_GetPageObjectNumberByIndex(handle, index);
      if (number > 0) pages.push(number);
    }
    pdfium.EPDF_RemoveEncryption(handle);
    const freed = freedObjects(bytes);
    return { bytes: savePdf(document), pages, freed };
  });
}

/** The objects of a file that PDFium saved, parsed when they are looked up. */
export class PdfObjects {
  readonly context = PDFContext.create();
  readonly trailer: PDFObject;
  readonly #bytes: Buffer;
  /** Where objects begin, and end at the latest. */
  readonly #places = new Map<number, [start: number, end: number]>();
  readonly #objects = new Map<number, PDFObject | undefined>();
  #last = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
    const tail = bytes.toString("latin1", Math.max(0, bytes.length - 64));
    const table = Number(/startxref\s+(\d+)\s+%%EOF\s*$/.exec(tail)?.[1] ?? bytes.length);
    this.trailer = this.#parse(this.#readTable(table), bytes.length) ?? damagedTable();
  }

  get(number: number): PDFObject | undefined {
    const place = this.#places.get(number);
    if (!this.#objects.has(number) && place !== undefined) this.#objects.set(number, this.#parse(...place));
    return this.#objects.get(number);
  }

  readonly resolve: Resolve = (value) => {
    let found = value;
    for (let depth = 0; found instanceof PDFRef && depth < 32; depth++) found = this.get(found.objectNumber);
    return found instanceof PDFRef ? undefined : found;
  };

  remove(number: number): void {
    this.#objects.set(number, undefined);
  }

  add(object: PDFObject): PDFRef {
    this.#objects.set(++this.#last, object);
    return PDFRef.of(this.#last);
  }

  /** A file of what is reached from these entries of the trailer, and nothing else, numbered anew. */
  write(trailer: Readonly<Record<string, PDFRef>>): Buffer {
    const numbers = new Map<number, number>();
    const refer = ({ objectNumber }: PDFRef): string => {
      if (this.get(objectNumber) === undefined) return "null";
      const number = numbers.get(objectNumber) ?? numbers.size + 1;
      numbers.set(objectNumber, number);
      return `${number} 0 R`;
    };
    const entries = Object.entries(trailer).map(([key, reference]) => `/${key} ${refer(reference)}`);
    const written = new Map<number, WrittenObject>();
    // What is written adds to the numbers.
    for (const [old, number] of numbers) {
      const object = this.get(old);
      if (object !== undefined) written.set(number, inPieces(object, refer));
    }
    return pdfFile(written, entries.join(""));
  }

  /** Reads the table at `position`, and returns the position of the trailer. */
  #readTable(position: number): number {
    const bytes = this.#bytes;
    const found: [number: number, start: number][] = [];
    let next = position + "xref\r\n".length;
    for (;;) {
      const head = /^(\d+) (\d+)\r\n/.exec(bytes.toString("latin1", next, next + 32));
      if (head === null) break;
      next += head[0].length;
      const first = Number(head[1]);
      for (let number = first; number < first + Number(head[2]); number++, next += ENTRY_BYTES) {
        if (bytes[next + 17] !== 0x6e) continue;
        found.push([number, Number(bytes.toString("latin1", next, next + 10))]);
        if (found.length > MAX_OBJECTS)
          throw unreadable("application/pdf", `it has more than ${MAX_OBJECTS} objects`);
      }
    }
    found.sort(([, one], [, other]) => one - other);
    for (const [index, [number, start]] of found.entries()) {
      this.#places.set(number, [start, found[index + 1]?.[1] ?? position]);
      this.#last = Math.max(this.#last, number);
    }
    return next + "trailer".length;
  }

  #parse(start: number, end: number): PDFObject | undefined {
    const text = this.#bytes.subarray(start, end);
    const head = /^\d+ 0 obj\s*/.exec(text.toString("latin1", 0, 32))?.[0].length ?? 0;
    try {
      return parseValue(text.subarray(head), this.context);
    } catch (error) {
      // What PDFium writes, but not as syntax, such as a name of no characters.
      throw damaged("one of its objects cannot be read", error);
    }
  }
}

function damagedTable(): never {
  throw damaged("its objects cannot be read");
}

/** An object in PDF syntax, with the right length of its stream. */
export function inPieces(object: PDFObject, refer: (reference: PDFRef) => string): WrittenObject {
  if (!(object instanceof PDFRawStream)) return [Buffer.from(inSyntax(object, refer), "latin1")];
  const { dict, contents } = object;
  dict.set(PDFName.of("Length"), PDFNumber.of(contents.length));
  const head = Buffer.from(`${inSyntax(dict, refer)}\nstream\n`, "latin1");
  return [
    head,
    Buffer.from(contents.buffer, contents.byteOffset, contents.length),
    Buffer.from("\nendstream"),
  ];
}
