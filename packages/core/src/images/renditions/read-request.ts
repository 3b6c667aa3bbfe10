import type { ImageFormat, OriginalFacts, Renderer, Size } from "../../contracts/renderer.ts";
import { ServiceError } from "../../errors.ts";
import * as rules from "../../option-rules.ts";
import type { AddressFormat } from "../record/formats.ts";
import type { AddressSignatures, SignedAddress } from "./address-signatures.ts";
import { type Presets, presetSource } from "./presets.ts";
import { type ParameterSource, parseReadParameters, type ReadParameters } from "./rendition-spec.ts";

/** The ladder of `sizes: "steps"`: longer sides in pixels. */
export const DEFAULT_STEPS: readonly number[] = [
  64, 128, 256, 320, 480, 640, 800, 1024, 1280, 1600, 1920, 2560, 3840, 5120, 8192,
];

const MAX_STEPS = 64;
const MAX_STEP = 8192;

/** Sizes of your own. */
export interface SizeSteps {
  /** Longer sides in pixels, 1 to 64 of 1 to 8192, in any order. */
  steps: readonly number[];
}

/** Which sizes clients may request. */
export type SizesOption = "any" | "steps" | "signed" | SizeSteps;

/** The rule of the option `sizes`. */
export const SIZES_RULE = rules.preset(
  "any",
  rules.either(
    "one of any, steps, signed, or { steps } with a list of longer sides",
    rules.nested({
      steps: rules.required(
        rules.value(`a list of 1 to ${MAX_STEPS} whole numbers from 1 to ${MAX_STEP}`, isLadder),
      ),
    }),
    rules.oneOf("any", "steps", "signed"),
  ),
);

/** The resolved option `sizes`. */
export interface SizePolicy {
  /** Longer sides, ascending; `null`: every size is rendered. */
  steps: readonly number[] | null;
  /** Whether parameters of a rendition need a signature. */
  needsSignature: boolean;
}

/** The policy of a checked option. */
export function sizePolicy(sizes: SizesOption): SizePolicy {
  if (typeof sizes === "object") {
    return { steps: [...new Set(sizes.steps)].sort((a, b) => a - b), needsSignature: false };
  }
  return { steps: sizes === "steps" ? DEFAULT_STEPS : null, needsSignature: sizes === "signed" };
}

/** Whether every request gets the exact size that it names. */
export function isFree({ steps, needsSignature }: SizePolicy): boolean {
  return steps === null && !needsSignature;
}

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

function isLadder(given: unknown): boolean {
  return (
    Array.isArray(given) &&
    given.length > 0 &&
    given.length <= MAX_STEPS &&
    given.every((step) => Number.isInteger(step) && step >= 1 && step <= MAX_STEP)
  );
}

/** The rules that a request for a rendition must meet. */
export interface ReadRules {
  sizes: SizePolicy;
  presets: Presets;
  signatures(): AddressSignatures;
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
  const untilMs = parseUntil(query.get("until") ?? "");
  if (s !== "") {
    const asked = parseAsked(format, ofQuery, presets);
    if (!signatures().verify({ id, format, ...meantBy(asked), untilMs: untilMs ?? undefined }, s)) {
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
    parameters: { ...parameters, ...(edits === undefined ? {} : { edits }) },
    preset: String(preset),
  };
}

/** The part that a signature covers. For a preset that is its name, so the host may change its parameters later. */
export function meantBy({ parameters, preset }: Asked): Pick<SignedAddress, "parameters" | "preset"> {
  return preset === undefined ? { parameters } : { parameters: {}, preset };
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null && value !== "";
}

/** Latest time that a Date can hold, in Unix milliseconds. */
export const MAX_UNTIL_MS = 8.64e15;

function parseUntil(text: string): number | null {
  if (text === "") return null;
  const untilMs = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  if (untilMs <= MAX_UNTIL_MS) return untilMs;
  throw new ServiceError("bad_request", "until must be Unix milliseconds");
}

function unsignedDetail(presets: Presets): string {
  const names = [...presets.keys()].map((name) => `preset=${name}`).join(", ");
  const open = names === "" ? "" : ` Without a signature, use ${names}.`;
  return `${SHAPING.slice(0, -1).join(", ")} and ${SHAPING.at(-1)} need an address signed by the host.${open}`;
}
