import { ServiceError } from "../../errors.ts";
import type { AddressFormat } from "../record/formats.ts";
import type { AddressSignatures, SignedAddress } from "./address-signatures.ts";
import { type Presets, presetSource } from "./presets.ts";
import { type ParameterSource, parseReadParameters, type ReadParameters } from "./rendition-spec.ts";
import type { SizePolicy } from "./sizes.ts";

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
