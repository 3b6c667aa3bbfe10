import { parsePdfValue } from "./parse-pdf-value.ts";
import type { PdfInventory, PdfObject } from "./pdf-inventory.ts";
import { type PdfValue, pdfNameAt, visitValues } from "./pdf-value.ts";

/** Keys whose values are removed, together with objects that only they refer to. */
const privateKeys = new Set(["Info", "Metadata", "PieceInfo"]);
/** Types of objects that belong to the document even if private data refer to them. */
const documentTypes = new Set(["Catalog", "Pages", "Page", "XRef", "ObjStm"]);

/**
 * The numbers of objects reachable from `roots` and from nowhere else in the document. Objects in `gone` do not count.
 */
export function findUnshared(
  { objects, trailers }: PdfInventory,
  roots: Iterable<number>,
  gone: ReadonlySet<PdfObject>,
): PdfObject[] {
  const present = objects.filter((object) => !gone.has(object));
  const byNumber = groupByNumber(present);
  const reached = reach(roots, byNumber, referencesOf, (number) => !isOfDocument(byNumber.get(number) ?? []));
  const outside = new Set(trailers.flatMap(referencesIn));
  for (const object of present) {
    if (!reached.has(object.number)) for (const number of referencesOf(object)) outside.add(number);
  }
  const shared = reach(outside, byNumber, referencesOf, (number) => reached.has(number));
  return present.filter(({ number }) => reached.has(number) && !shared.has(number));
}

/** All object numbers reachable from `roots` through numbers for which `isOpen` returns true. */
export function reach(
  roots: Iterable<number>,
  byNumber: ReadonlyMap<number, PdfObject[]>,
  referencesOf: (object: PdfObject) => number[],
  isOpen: (number: number) => boolean = () => true,
): Set<number> {
  const reached = new Set<number>();
  const waiting = [...roots];
  for (let number = waiting.pop(); number !== undefined; number = waiting.pop()) {
    if (reached.has(number) || !isOpen(number)) continue;
    reached.add(number);
    for (const object of byNumber.get(number) ?? []) {
      for (const reference of referencesOf(object)) waiting.push(reference);
    }
  }
  return reached;
}

export function groupByNumber(objects: readonly PdfObject[]): Map<number, PdfObject[]> {
  const groups = new Map<number, PdfObject[]>();
  for (const object of objects) {
    const group = groups.get(object.number);
    if (group === undefined) groups.set(object.number, [object]);
    else group.push(object);
  }
  return groups;
}

function isOfDocument(objects: readonly PdfObject[]): boolean {
  return objects.some((object) => documentTypes.has(pdfNameAt(parseObject(object), "Type") ?? ""));
}

function referencesOf(object: PdfObject): number[] {
  const value = parseObject(object);
  return value === null ? [] : referencesIn(value);
}

/** The numbers of the objects that a value refers to, except from private data. */
export function referencesIn(value: PdfValue): number[] {
  const numbers: number[] = [];
  visitValues(
    value,
    (inner) => {
      if (inner.kind === "reference") numbers.push(inner.number);
    },
    privateKeys,
  );
  return numbers;
}

function parseObject({ host, start }: PdfObject): PdfValue | null {
  return parsePdfValue(host.content, start);
}
