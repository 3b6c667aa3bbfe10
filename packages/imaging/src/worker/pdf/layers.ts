import { PDFDict, PDFName, PDFNumber, type PDFObject, PDFRef } from "../privacy/pdf/library.ts";
import { entryOf, itemsOf, nameOf, type Resolve } from "../privacy/pdf/pdf-values.ts";
import { PdfObjects, resavePdf } from "../privacy/pdf/saved-pdf.ts";

/** The flag of an annotation that no reader draws (ISO 32000-1, table 165). */
const HIDDEN = 2;

/** Whether a document has layers (optional content groups). */
export async function hasLayers(bytes: Buffer): Promise<boolean> {
  const objects = new PdfObjects((await resavePdf(bytes)).bytes);
  return readLayerState(objects) !== null;
}

/** The document with annotations in layers that are off hidden; `null` for a document without layers. Source: ISO 32000-1, section 8.11. */
export async function withHiddenAnnotations(bytes: Buffer): Promise<Buffer | null> {
  const saved = await resavePdf(bytes);
  const objects = new PdfObjects(saved.bytes);
  const state = readLayerState(objects);
  const root = entryOf(objects.trailer, "Root");
  if (state === null || !(root instanceof PDFRef)) return null;
  for (const page of saved.pages) {
    for (const item of itemsOf(objects.resolve(entryOf(objects.get(page), "Annots")))) {
      const annotation = objects.resolve(item);
      if (annotation instanceof PDFDict && isHidden(state, entryOf(annotation, "OC"))) {
        annotation.set(PDFName.of("F"), PDFNumber.of(HIDDEN));
      }
    }
  }
  return objects.write({ Root: root });
}

/** Deeper than visibility expressions are, and as deep as PDFium reads them. */
const MAX_DEPTH = 32;
/** Operands that are looked at in one document. Expressions that name one another could take any number. */
const MAX_OPERANDS = 100_000;

/** Which layers of a document are shown. */
interface LayerState {
  resolve: Resolve;
  /** Whether a layer is shown on screen, by the number of its object. */
  visible: ReadonlyMap<number, boolean>;
  /** Operands that may still be looked at. */
  operands: number;
}

/**
 * Reads the layers of a document that PDFium saved, as PDFium shows them. `null` without any.
 *
 * Sources: ISO 32000-1, section 8.11.4; PDFium, `cpdf_occontext.cpp`.
 */
export function readLayerState({ trailer, resolve }: PdfObjects): LayerState | null {
  const at = (value: PDFObject | undefined, key: string) => resolve(entryOf(value, key));
  const properties = at(at(trailer, "Root"), "OCProperties");
  if (properties === undefined) return null;
  const configurations = itemsOf(at(properties, "Configs")).map(resolve);
  const configuration =
    configurations.find((each) => at(each, "Intent") !== undefined && isForView(each, resolve)) ??
    at(properties, "D");
  const [on, off] = ["ON", "OFF"].map((key) => numbersIn(at(configuration, key)));
  const isOn = nameOf(at(configuration, "BaseState")) !== "OFF";
  const visible = new Map<number, boolean>();
  for (const item of itemsOf(at(properties, "OCGs"))) {
    const layer = resolve(item);
    if (!(item instanceof PDFRef && layer instanceof PDFDict)) continue;
    const number = item.objectNumber;
    const used = nameOf(at(at(at(layer, "Usage"), "View"), "ViewState"));
    const configured = off?.has(number) === true ? false : isOn || on?.has(number) === true;
    visible.set(number, !isForView(layer, resolve) || (used === undefined ? configured : used !== "OFF"));
  }
  return { resolve, visible, operands: MAX_OPERANDS };
}

/** Whether the layer or the membership at `OC` hides what has that entry. */
export function isHidden(state: LayerState, content: PDFObject | undefined): boolean {
  const { resolve, visible } = state;
  const isLayer = (value: PDFObject | undefined) =>
    value instanceof PDFRef && visible.has(value.objectNumber);
  const isShown = (value: PDFObject | undefined): boolean =>
    !(value instanceof PDFRef) || visible.get(value.objectNumber) !== false;

  function isExpressionTrue(expression: PDFObject | undefined, depth: number): boolean {
    const [operator, ...operands] = itemsOf(expression);
    const name = nameOf(operator);
    state.operands -= operands.length;
    if (depth > MAX_DEPTH || state.operands < 0) return false;
    const isTrue = (operand: PDFObject): boolean => {
      const inner = isLayer(operand) ? [] : itemsOf(resolve(operand));
      return inner.length > 0 ? isExpressionTrue(resolve(operand), depth + 1) : isShown(operand);
    };
    if (name === "Not") return operands[0] !== undefined && !isTrue(operands[0]);
    return name === "And" ? operands.every(isTrue) : name === "Or" && operands.some(isTrue);
  }

  const membership = isLayer(content) ? undefined : resolve(content);
  if (nameOf(entryOf(membership, "Type")) !== "OCMD") return !isShown(content);
  if (state.operands < 0) return true;
  const expression = resolve(entryOf(membership, "VE"));
  if (itemsOf(expression).length > 0) return !isExpressionTrue(expression, 0);
  const layers = entryOf(membership, "OCGs");
  const list = resolve(layers);
  if (list instanceof PDFDict) return !isShown(layers);
  const shown = itemsOf(list).map(isShown);
  state.operands -= shown.length;
  if (shown.length === 0) return false;
  switch (nameOf(entryOf(membership, "P"))) {
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

/** Whether a layer or a configuration is meant for viewing. */
function isForView(value: PDFObject | undefined, resolve: Resolve): boolean {
  const intent = resolve(entryOf(value, "Intent"));
  if (intent === undefined) return true;
  const names = [nameOf(intent), ...itemsOf(intent).map((item) => nameOf(item))];
  return names.includes("View") || names.includes("All");
}

function numbersIn(value: PDFObject | undefined): Set<number> {
  return new Set(itemsOf(value).flatMap((item) => (item instanceof PDFRef ? [item.objectNumber] : [])));
}
