import { Edits } from "../privacy/edits.ts";
import { parsePdfValue } from "../privacy/pdf/parse-pdf-value.ts";
import { takePdfInventory } from "../privacy/pdf/pdf-inventory.ts";
import { entryOf, type PdfValue, pdfNameAt, visitValues } from "../privacy/pdf/pdf-value.ts";
import { resavePdf } from "../privacy/strip-pdf.ts";
import { updatedPdf } from "./pdf-file.ts";

const TYPE = "application/pdf";
/** The flag of an annotation that no reader draws (ISO 32000-1, table 165). */
const HIDDEN = 2;

/** Whether a document has layers (optional content groups). An encrypted or damaged one is taken to have some. */
export function mayHaveLayers(bytes: Buffer): boolean {
  let hasLayers = false;
  const inventory = takePdfInventory(bytes, (_, value) => {
    if (entryOf(value, "OCProperties") !== undefined) hasLayers = true;
  });
  return inventory === null || hasLayers;
}

/** The document with annotations in layers that are off hidden; `null` for a document without layers. Source: ISO 32000-1, section 8.11. */
export async function withHiddenAnnotations(bytes: Buffer): Promise<Buffer | null> {
  if (!mayHaveLayers(bytes)) return null;
  const plain = await resavePdf(bytes);
  const state = readLayerState(plain);
  return state === null ? null : hideAnnotations(plain, state);
}

function hideAnnotations(plain: Buffer, state: LayerState): Buffer {
  const changed = new Map<number, [Buffer]>();
  for (const [number, content] of state.objects) {
    const value = parsePdfValue(content, 0);
    if (value === null) continue;
    const edits = new Edits(content, TYPE);
    visitValues(value, (inner) => {
      const isAnnotation = entryOf(inner, "Rect") !== undefined && pdfNameAt(inner, "Subtype") !== undefined;
      if (!isAnnotation || inner.kind !== "dictionary" || !isHidden(state, entryOf(inner, "OC"))) return;
      for (const entry of inner.entries) if (entry.key === "F") edits.remove(entry.start, entry.value.end);
      addEntry(edits, inner, `/F ${HIDDEN}`);
    });
    const pieces = edits.apply();
    if (pieces !== null) changed.set(number, [Buffer.concat(pieces)]);
  }
  return updatedPdf(plain, changed, state.root);
}

/** Adds an entry before the end of a dictionary. */
function addEntry(edits: Edits, { end }: PdfValue, entry: string): void {
  edits.replace(end - 2, end - 2, Buffer.from(entry, "latin1"));
}

/** Deeper than visibility expressions are, and as deep as PDFium reads them. */
const MAX_DEPTH = 32;
/** Bytes of objects that lookups parse in one document. Expressions that name one another could take any number. */
const MAX_PARSED_BYTES = 64 * 1024 ** 2;
/** Bytes that a lookup counts besides. */
const LOOKUP_BYTES = 256;

/** The objects of a document and which of its layers are shown. */
interface LayerState {
  /** The number of the catalogue. */
  root: number;
  /** The objects that are no streams, each alone in its bytes. */
  objects: ReadonlyMap<number, Buffer>;
  /** Looks up an indirect object; any other value stands for itself. */
  resolve: Resolve;
  /** Whether a layer is shown on screen, by the number of its object. */
  visible: ReadonlyMap<number, boolean>;
}

/**
 * Reads the layers of a document that PDFium saved, as PDFium shows them. `null` without any.
 *
 * Sources: ISO 32000-1, section 8.11.4; PDFium, `cpdf_occontext.cpp`.
 */
export function readLayerState(bytes: Buffer): LayerState | null {
  const objects = new Map<number, Buffer>();
  const inventory = takePdfInventory(bytes, ({ number, data, host }, value) => {
    if (value !== null && data === null) objects.set(number, host.content.subarray(value.start, value.end));
  });
  const resolve = resolverOf(objects);
  const root = inventory?.trailers.map((trailer) => entryOf(trailer, "Root")).findLast(Boolean);
  const properties = resolve(entryOf(resolve(root), "OCProperties"));
  if (root?.kind !== "reference" || properties === undefined) return null;
  const listed = numbersIn(resolve(entryOf(properties, "OCGs")));
  const configurations = itemsOf(resolve(entryOf(properties, "Configs"))).map(resolve);
  const configuration =
    configurations.find((each) => entryOf(each, "Intent") !== undefined && isForView(each, resolve)) ??
    resolve(entryOf(properties, "D"));
  const [on, off] = ["ON", "OFF"].map((key) => numbersIn(resolve(entryOf(configuration, key))));
  const isOn = pdfNameAt(configuration, "BaseState") !== "OFF";
  const visible = new Map<number, boolean>();
  for (const number of listed) {
    const content = objects.get(number);
    const layer = content && parsePdfValue(content, 0);
    if (layer?.kind !== "dictionary") continue;
    const usage = resolve(entryOf(resolve(entryOf(layer, "Usage")), "View"));
    const used = pdfNameAt(usage, "ViewState");
    const configured = off?.has(number) === true ? false : isOn || on?.has(number) === true;
    visible.set(number, !isForView(layer, resolve) || (used === undefined ? configured : used !== "OFF"));
  }
  return { root: root.number, objects, resolve, visible };
}

/** Whether the layer or the membership at `OC` hides what has that entry. */
export function isHidden({ resolve, visible }: LayerState, content: PdfValue | undefined): boolean {
  const isLayer = (value: PdfValue | undefined) => value?.kind === "reference" && visible.has(value.number);
  const isShown = (value: PdfValue | undefined): boolean =>
    value?.kind !== "reference" || visible.get(value.number) !== false;

  function isExpressionTrue(expression: PdfValue | undefined, depth: number): boolean {
    const [operator, ...operands] = itemsOf(expression);
    const name = operator?.kind === "name" ? operator.text : "";
    if (depth > MAX_DEPTH) return false;
    const isTrue = (operand: PdfValue): boolean => {
      const inner = isLayer(operand) ? undefined : resolve(operand);
      return inner?.kind === "array" ? isExpressionTrue(inner, depth + 1) : isShown(operand);
    };
    if (name === "Not") return operands[0] !== undefined && !isTrue(operands[0]);
    return name === "And" ? operands.every(isTrue) : name === "Or" && operands.some(isTrue);
  }

  const membership = isLayer(content) ? undefined : resolve(content);
  if (pdfNameAt(membership, "Type") !== "OCMD") return !isShown(content);
  const expression = resolve(entryOf(membership, "VE"));
  if (expression?.kind === "array") return !isExpressionTrue(expression, 0);
  const layers = entryOf(membership, "OCGs");
  const list = resolve(layers);
  if (list?.kind !== "array") return !isShown(layers);
  const shown = list.items.map(isShown);
  if (shown.length === 0) return false;
  switch (pdfNameAt(membership, "P")) {
    case "AllOn":
      return !shown.every(Boolean);
    case "AllOff":
      return shown.some(Boolean);
    case "AnyOff":
      return shown.every(Boolean);
    default:
      return !shown.some(Boolean);
  }
}

type Resolve = (value: PdfValue | undefined) => PdfValue | undefined;

/** Parses objects when they are looked up: a file may have a million. */
function resolverOf(objects: LayerState["objects"]): Resolve {
  let parsable = MAX_PARSED_BYTES;
  return (value) => {
    if (value?.kind !== "reference") return value;
    const content = objects.get(value.number);
    parsable -= LOOKUP_BYTES + (content?.length ?? 0);
    return content === undefined || parsable < 0 ? undefined : (parsePdfValue(content, 0) ?? undefined);
  };
}

/** Whether a layer or a configuration is meant for viewing. */
function isForView(value: PdfValue | undefined, resolve: Resolve): boolean {
  const intent = resolve(entryOf(value, "Intent"));
  if (intent === undefined) return true;
  const names = intent.kind === "array" ? intent.items : [intent];
  return names.some((name) => name.kind === "name" && (name.text === "View" || name.text === "All"));
}

function itemsOf(value: PdfValue | undefined): readonly PdfValue[] {
  return value?.kind === "array" ? value.items : [];
}

function numbersIn(value: PdfValue | undefined): Set<number> {
  return new Set(itemsOf(value).flatMap((item) => (item.kind === "reference" ? [item.number] : [])));
}
