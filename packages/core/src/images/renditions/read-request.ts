import type {
  ImageFormat,
  OriginalFacts,
  OriginalType,
  Renderer,
  RenditionSpec,
  Size,
} from "../../contracts/renderer.ts";
import { isServiceError, ServiceError } from "../../errors.ts";
import { type AddressFormat, formatOfOriginal } from "../record/formats.ts";
import type { ImageRecord } from "../record/image-record.ts";
import type { AddressSignatures, SignedAddress } from "./address-signatures.ts";
import { type Presets, presetSource, type SizePolicy } from "./presets.ts";
import {
  DEFAULT_QUALITY,
  isGiven,
  type ParameterSource,
  parseReadParameters,
  present,
  type ReadParameters,
} from "./read-parameters.ts";

type Box = Pick<ReadParameters, "maxWidth" | "maxHeight" | "fit">;

/**
 * The box of the step served for `box`: the smallest step that is not below the longer side of the resulting size, else the
 * largest step. No box stays no box. If the resulting size is unknown before the original is read, the sides of the box are
 * raised to steps. The box of `cover` or `pad` keeps its ratio.
 * @param measure Returns the size that results from a box; `null`: unknown.
 */
export function boxOfStep(box: Box, steps: readonly number[], measure: (box: Box) => Size | null): Box {
  const { maxWidth, maxHeight, fit } = box;
  if (maxWidth === undefined && maxHeight === undefined) return {};
  const raise = (side: number) => steps.find((step) => step >= side) ?? steps.at(-1) ?? side;
  const size = measure(box);
  if (size === null && maxWidth === undefined) return { maxHeight: raise(maxHeight ?? 1) };
  if (size === null && maxHeight === undefined) return { maxWidth: raise(maxWidth ?? 1) };
  const side = raise(
    size === null ? Math.max(maxWidth ?? 1, maxHeight ?? 1) : Math.max(size.width, size.height),
  );
  if (fit === undefined || maxWidth === undefined || maxHeight === undefined) {
    return { maxWidth: side, maxHeight: side };
  }
  const scaled = (given: number) => Math.max(1, Math.round((given * side) / Math.max(maxWidth, maxHeight)));
  return { maxWidth: scaled(maxWidth), maxHeight: scaled(maxHeight), fit };
}

/** The parameters that are rendered for a request: those of the next larger step, unless the host chose exact ones. */
export function servedParameters(
  renderer: Pick<Renderer, "measure">,
  original: OriginalFacts,
  format: ImageFormat,
  { parameters, isExact }: { parameters: ReadParameters; isExact: boolean },
  { steps }: SizePolicy,
): ReadParameters {
  if (steps === null || isExact) return parameters;
  const { maxWidth: _width, maxHeight: _height, fit: _fit, ...others } = parameters;
  const measure = (box: Box) => renderer.measure(original, { format, ...others, ...box });
  return { ...others, ...boxOfStep(parameters, steps, measure) };
}

/** The rules that a request for a rendition must meet. */
export interface ReadRules {
  sizes: SizePolicy;
  presets: Presets;
  signatures: AddressSignatures;
}

/** The sources of a request's parameters. */
export interface ReadSources {
  query: URLSearchParams;
  /** Fields of the body; absent without a body. They override the query, and no signature covers them. */
  body?: { has(name: string): boolean; get: ParameterSource } | undefined;
}

/** A request for a rendition that passed the checks. */
export interface ReadRequest {
  parameters: ReadParameters;
  /** Whether the exact size is served, because the host chose it by a preset or a signature. */
  isExact: boolean;
  /** The request is rejected from this time on, in Unix milliseconds. `null`: no end. */
  untilMs: number | null;
}

/** Parameters that a preset replaces, and that need a signature if `sizes` is "signed". */
const SHAPING = ["resize", "convert", "page", "fit", "at", "background"] as const;

/**
 * Checks a request for `<id>.<format>`.
 * Throws `bad_request` for a parameter that is malformed or out of range, and for an unknown preset.
 * Throws `forbidden` for a wrong signature, for `until` without a signature, and for an unsigned size or crop that needs a
 * signature.
 */
export function checkRead(
  id: string,
  format: AddressFormat,
  { query, body }: ReadSources,
  { sizes, presets, signatures }: ReadRules,
): ReadRequest {
  const ofQuery: ParameterSource = (name) => query.get(name);
  const s = query.get("s") ?? "";
  const until = query.get("until") ?? "";
  const untilMs = until === "" ? null : Number(until);
  if (untilMs !== null && !(/^\d{1,16}$/.test(until) && untilMs <= MAX_UNTIL_MS)) {
    throw new ServiceError("bad_request", "until must be Unix milliseconds");
  }
  if (s !== "") {
    const asked = parseAsked(format, ofQuery, presets);
    if (signatures.verify({ id, format, ...meantBy(asked), untilMs: untilMs ?? undefined }, s) === null) {
      throw new ServiceError(
        "forbidden",
        "The signature s does not match this URL: it covers the image, the format and every parameter",
      );
    }
  } else if (untilMs !== null) {
    throw new ServiceError("forbidden", "A URL with until must be signed: s is missing");
  }
  const value: ParameterSource = body === undefined ? ofQuery : (name) => body.get(name);
  const asked = parseAsked(format, value, presets);
  const isSigned = s !== "" && !["preset", ...SHAPING].some((name) => body?.has(name));
  const isExact = isSigned || asked.preset !== undefined;
  if (sizes.needsSignature && !isExact && SHAPING.some((name) => isGiven(value(name)))) {
    throw new ServiceError("forbidden", unsignedDetail(presets));
  }
  if (sizes.steps !== null && !isExact && !isBoundedCrop(asked.parameters)) {
    throw new ServiceError(
      "forbidden",
      "Only fit=cover with a square box, and without a point as at, needs no preset and no address signed by the host",
    );
  }
  return { parameters: asked.parameters, isExact, untilMs };
}

/** Whether steps bound the number of such crops: other ratios, points and colours have no steps. */
function isBoundedCrop({ fit, at, maxWidth, maxHeight }: ReadParameters): boolean {
  return fit === undefined || (fit === "cover" && maxWidth === maxHeight && !Array.isArray(at));
}

/** Throws `forbidden` once a signed address has ended. */
export function requireInTime(untilMs: number | null, nowMs: number): void {
  if (untilMs === null || nowMs < untilMs) return;
  throw new ServiceError("forbidden", `This link expired at ${new Date(untilMs).toISOString()}`);
}

/**
 * Whether the host has signed the permission to read, and it has not ended. Signatures of sizes, which stand in public pages, are
 * none. Never throws for a malformed address.
 */
export function isSignedRead(
  id: string,
  format: AddressFormat,
  query: URLSearchParams,
  { presets, signatures }: ReadRules,
  nowMs: number,
): boolean {
  const untilMs = Number(query.get("until") ?? "");
  const s = query.get("s") ?? "";
  if (s === "" || !(untilMs > nowMs)) return false;
  try {
    const asked = parseAsked(format, (name) => query.get(name), presets);
    return signatures.verify({ id, format, ...meantBy(asked), untilMs }, s) === "read";
  } catch (error) {
    if (isServiceError(error)) return false;
    throw error;
  }
}

interface Asked {
  parameters: ReadParameters;
  /** Name of the preset that set the parameters. */
  preset?: string;
}

/** The parameters, or those of the preset. Throws `bad_request` if both are given. */
export function parseAsked(format: AddressFormat, value: ParameterSource, presets: Presets): Asked {
  const preset = value("preset");
  if (!isGiven(preset)) return { parameters: parseReadParameters(format, value) };
  const beside = SHAPING.find((name) => isGiven(value(name)));
  if (beside !== undefined) {
    throw new ServiceError("bad_request", `preset and ${beside} exclude each other: send only one`);
  }
  const parameters = parseReadParameters(format, presetSource(presets, preset));
  const { edits } = presets.get(String(preset)) ?? {};
  return {
    parameters: { ...parameters, ...present({ edits }) },
    preset: String(preset),
  };
}

/** The part that a signature covers. For a preset that is its name, so the host may change its parameters later. */
export function meantBy({ parameters, preset }: Asked): Pick<SignedAddress, "parameters" | "preset"> {
  return preset === undefined ? { parameters } : { parameters: {}, preset };
}

/** Latest time that a Date can hold, in Unix milliseconds. */
export const MAX_UNTIL_MS = 8.64e15;

function unsignedDetail(presets: Presets): string {
  const names = [...presets.keys()].map((name) => `preset=${name}`).join(", ");
  const open = names === "" ? "" : ` Without a signature, use ${names}.`;
  return `${SHAPING.slice(0, -1).join(", ")} and ${SHAPING.at(-1)} need an address signed by the host.${open}`;
}

type Original = Pick<ImageRecord, "type" | "width" | "height" | "pages" | "pageSizes" | "size" | "focus">;

/** Types without transparency. */
const OPAQUE: readonly OriginalType[] = ["image/jpeg", "application/pdf"];

/**
 * The rendition that `parameters` request. Parameters that yield the same picture yield the same spec.
 * `null`: the stored original, since neither type nor size changes. Throws `bad_request` for a page that the document
 * does not have.
 */
export function chooseRendition(
  record: Original,
  format: ImageFormat,
  parameters: ReadParameters,
  measure: Renderer["measure"],
): RenditionSpec | null {
  const { page, edits, fit } = parameters;
  if (page !== undefined && page > pageCount(record)) {
    throw new ServiceError("bad_request", `page must be at most ${pageCount(record)}`);
  }
  if (record.type === "application/pdf" && format === "pdf" && edits === undefined && fit !== undefined) {
    throw new ServiceError("bad_request", "fit must be contain for a PDF as PDF");
  }
  // A quarter turn exchanges the sides of the picture, and so those of the box that it must fit before.
  const isTurned = edits?.rotate === 90 || edits?.rotate === 270;
  const maxWidth = isTurned ? parameters.maxHeight : parameters.maxWidth;
  const maxHeight = isTurned ? parameters.maxWidth : parameters.maxHeight;
  // The address format `auto` may have a quality, and result in a format without it.
  const quality = format === "jpg" ? parameters.quality : undefined;
  // A page requested by number is served alone, even the first. Edits show one page anyway.
  const isDocument = formatOfOriginal(record.type) === format && edits === undefined;
  const isOnePage = page !== undefined && (isDocument ? pageCount(record) > 1 : page > 1);
  const isAsStored = isDocument && quality === undefined && !isOnePage;
  if (isAsStored && fit === undefined && !changesSize(record, maxWidth, maxHeight)) return null;
  const picture = {
    quality: quality ?? (format === "jpg" ? DEFAULT_QUALITY : undefined),
    page: isOnePage ? page : undefined,
    edits,
  };
  // Absent: the colour that the format has anyway, and the centre.
  const background =
    format === "jpg" && parameters.background === "ffffff" ? undefined : parameters.background;
  const at = fit === "cover" ? (parameters.at ?? record.focus) : undefined;
  const isCentre = Array.isArray(at) && at[0] === 0.5 && at[1] === 0.5;
  const box = { maxWidth, maxHeight, fit, at: isCentre ? undefined : at };
  const asked = { format, ...present({ ...picture, ...box, background }) };
  const layout = measure(record, asked);
  if (layout === null) return asked;
  const isWhole = layout.drawn === undefined;
  const colour = isWhole && OPAQUE.includes(record.type) ? undefined : background;
  const isNatural = isWhole && layout.width === record.width && layout.height === record.height;
  if (isAsStored && isNatural && colour === undefined) return null;
  return { format, ...present({ ...picture, ...layout, background: colour }) };
}

/** Pages that can be requested; `Infinity`: unknown. Only PDFs have pages; the frames of an animation are not pages. */
export function pageCount(record: Original): number {
  if (record.type !== "application/pdf") return 1;
  return record.pages ?? Number.POSITIVE_INFINITY;
}

const SCALABLE: readonly OriginalType[] = ["image/svg+xml", "application/pdf"];

/** Whether a box changes the size. A raster is never enlarged, so a larger box changes nothing; a scalable image fills the box. */
function changesSize(
  { type, width, height }: Original,
  maxWidth: number | undefined,
  maxHeight: number | undefined,
): boolean {
  if (maxWidth === undefined && maxHeight === undefined) return false;
  if (width === null || height === null) return true;
  const scale = Math.min(
    (maxWidth ?? Number.POSITIVE_INFINITY) / width,
    (maxHeight ?? Number.POSITIVE_INFINITY) / height,
  );
  return SCALABLE.includes(type) ? scale !== 1 : scale < 1;
}
