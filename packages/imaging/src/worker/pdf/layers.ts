import { Edits } from "../privacy/edits.ts";
import { parsePdfValue } from "../privacy/pdf/parse-pdf-value.ts";
import { takePdfInventory } from "../privacy/pdf/pdf-inventory.ts";
import { countOf, entryOf, nameOf, type PdfValue, visitValues } from "../privacy/pdf/pdf-value.ts";
import { resavePdf } from "../privacy/pdf/resave-pdf.ts";
import { isHidden, type LayerState, readLayerState } from "./layer-state.ts";
import { updatedPdf } from "./pdf-file.ts";

const TYPE = "application/pdf";
/** The entry by which a copy of a layer tells the number of the original. */
const TAG = "OutriggerLayer";
/** The flag of an annotation that no reader draws (ISO 32000-1, table 165). */
const HIDDEN = 2;

/** A document whose layers survive the copying of its pages to another document. */
export interface MarkedLayers {
  /** The document, in which each layer has a mark, and annotations in layers that are off are hidden. */
  bytes: Buffer;
  /** The document that PDFium made of its pages, with their layers on and off as before. */
  restore(copied: Buffer): Buffer;
}

/**
 * Marks the layers (optional content groups) of a document. PDFium copies pages with the layers that they use, but not the
 * catalogue's list of which are off: without it all are on. `null` for a document without layers.
 *
 * Source: ISO 32000-1, section 8.11.
 */
export async function markLayers(bytes: Buffer): Promise<MarkedLayers | null> {
  let hasLayers = false;
  const inventory = takePdfInventory(bytes, (_, value) => {
    if (entryOf(value, "OCProperties") !== undefined) hasLayers = true;
  });
  // An encrypted or damaged document may have them, too.
  if (inventory !== null && !hasLayers) return null;
  const plain = await resavePdf(bytes);
  const state = readLayerState(plain);
  return state === null ? null : { bytes: mark(plain, state), restore: (copied) => restore(copied, state) };
}

function mark(plain: Buffer, state: LayerState): Buffer {
  const changed = new Map<number, [Buffer]>();
  for (const [number, content] of state.objects) {
    const value = parsePdfValue(content, 0);
    if (value === null) continue;
    const edits = new Edits(content, TYPE);
    if (state.visible.has(number)) addEntry(edits, value, `/${TAG} ${number}`);
    visitValues(value, (inner) => {
      const isAnnotation = entryOf(inner, "Rect") !== undefined && nameOf(inner, "Subtype") !== undefined;
      if (!isAnnotation || inner.kind !== "dictionary" || !isHidden(state, entryOf(inner, "OC"))) return;
      for (const entry of inner.entries) if (entry.key === "F") edits.remove(entry.start, entry.value.end);
      addEntry(edits, inner, `/F ${HIDDEN}`);
    });
    const pieces = edits.apply();
    if (pieces !== null) changed.set(number, [Buffer.concat(pieces)]);
  }
  return updatedPdf(plain, changed, state.root);
}

function restore(copied: Buffer, { visible }: LayerState): Buffer {
  const layers: string[] = [];
  const off: string[] = [];
  const inventory = takePdfInventory(copied, ({ number }, value) => {
    const original = countOf(value, TAG);
    if (original === undefined || value?.kind !== "dictionary") return;
    layers.push(`${number} 0 R`);
    if (visible.get(original) === false) off.push(`${number} 0 R`);
    for (const entry of value.entries) if (entry.key === TAG) copied.fill(" ", entry.start, entry.value.end);
  });
  const root = inventory?.trailers.map((trailer) => entryOf(trailer, "Root")).findLast(Boolean);
  if (root?.kind !== "reference" || layers.length === 0) return copied;
  const catalogue = inventory?.objects.findLast(({ number }) => number === root.number);
  const value = catalogue && parsePdfValue(copied, catalogue.start);
  if (value?.kind !== "dictionary") return copied;
  const list = layers.join(" ");
  const edits = new Edits(copied.subarray(value.start, value.end), TYPE);
  const properties = `/OCProperties<</OCGs[${list}]/D<</Order[${list}]/OFF[${off.join(" ")}]>>>>`;
  addEntry(edits, { ...value, end: value.end - value.start }, properties);
  return updatedPdf(copied, new Map([[root.number, [Buffer.concat(edits.apply() ?? [])]]]), root.number);
}

/** Adds an entry before the end of a dictionary. */
function addEntry(edits: Edits, { end }: PdfValue, entry: string): void {
  edits.replace(end - 2, end - 2, Buffer.from(entry, "latin1"));
}
