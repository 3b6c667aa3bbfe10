import type { DrawnPicture, RenditionSpec } from "../../contracts/renderer.ts";
import { keyOf } from "../record/image-record.ts";

/** A short unique name of a spec, safe in a store's key and in an entity tag. */
export function specName(spec: RenditionSpec): string {
  const { format, quality, page, width, height, maxWidth, maxHeight, drawn, fit, at, background, edits } =
    spec;
  const parts: string[] = [format];
  if (quality !== undefined) parts.push(quality);
  if (width !== undefined && height !== undefined) {
    parts.push(`${width}x${height}`);
    if (drawn !== undefined) parts.push(drawnName(drawn));
  } else if (maxWidth !== undefined || maxHeight !== undefined) {
    parts.push(`in${maxWidth ?? ""}x${maxHeight ?? ""}`);
    if (fit !== undefined) parts.push(fit);
    if (at !== undefined) parts.push(typeof at === "string" ? at : pointName(at));
  }
  if (background !== undefined) parts.push(`bg${background}`);
  if (page !== undefined) parts.push(`p${page}`);
  if (edits !== undefined) parts.push(`e${edits.digest}`);
  return parts.join("-");
}

/** As in `of300x200l22t0`: a picture drawn at 300 × 200 from 22 pixels on; `m` marks a negative offset. */
function drawnName({ width, height, ...place }: DrawnPicture): string {
  const offset = (pixels: number) => String(pixels).replace("-", "m");
  return `of${width}x${height}${"at" in place ? place.at : `l${offset(place.left)}t${offset(place.top)}`}`;
}

/** Points have four decimal digits. */
function pointName([x, y]: readonly [number, number]): string {
  return `x${Math.round(x * 10_000)}y${Math.round(y * 10_000)}`;
}

const SIDES = "[1-9]\\d*x[1-9]\\d*";
const PLACE = "attention|entropy";
const SPEC_NAME = new RegExp(
  [
    "^(?:png|jpg|gif|svg|psd|pdf|webp|avif)(?:-(?:low|medium|high|max|auto))?",
    `(?:-${SIDES}(?:-of${SIDES}(?:lm?\\d+tm?\\d+|${PLACE}))?`,
    `|-in\\d*x\\d*(?:-(?:cover|pad))?(?:-(?:x\\d+y\\d+|${PLACE}))?)?`,
    "(?:-bg[0-9a-f]{6})?(?:-p\\d+)?(?:-e[0-9a-f]{16})?$",
  ].join(""),
);

/** Whether {@link specName} writes such names. Earlier releases wrote others. */
export function isSpecName(name: string): boolean {
  return SPEC_NAME.test(name);
}

/** Key of the original (`null`) or of a rendition. */
export function keyFor(id: string, spec: RenditionSpec | null): string {
  return spec === null ? keyOf.original(id) : keyOf.rendition(id, specName(spec));
}

/** Key of an intermediate: stored beside the renditions, one per page. */
export function intermediateKey(id: string, { page = 1 }: RenditionSpec): string {
  return keyOf.rendition(id, `intermediate-p${page}`);
}

/** Whether a key belongs to an intermediate. */
export function isIntermediate(key: string): boolean {
  return key.includes("/renditions/intermediate-");
}

/** The entity tag: the key of a rendition and the build that made its bytes. Different bytes never share a tag. */
export function tagOf(id: string, spec: RenditionSpec | null, build = ""): string {
  return spec === null ? `"${id}.original"` : `"${id}.${specName(spec)}.${build}"`;
}
