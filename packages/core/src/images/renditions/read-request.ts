import type { ImageFormat } from "../../contracts/renderer.ts";
import { ServiceError } from "../../errors.ts";
import type { AddressSignatures, SignedAddress } from "./address-signatures.ts";
import { type Presets, presetSource } from "./presets.ts";
import { type ParameterSource, parseReadParameters, type ReadParameters } from "./rendition-spec.ts";
import type { SizePolicy } from "./sizes.ts";

/** What a request for a rendition is checked against. */
export interface ReadRules {
  sizes: SizePolicy;
  presets: Presets;
  signatures(): AddressSignatures;
}

/** Where the parameters of a request are. */
export interface ReadSources {
  query: URLSearchParams;
  /** Its body; absent where it has none. What it has goes before the query, and no signature covers it. */
  body?: { has(name: string): boolean; get: ParameterSource } | undefined;
}

/** A request for a rendition that may be answered. */
export interface ReadRequest {
  parameters: ReadParameters;
  /** Whether exactly the size that was asked for is served: the host chose it, by a preset or a signature. */
  isExact: boolean;
  /** From this moment on the request is refused; Unix milliseconds. `null`: never. */
  untilMs: number | null;
}

/** What a preset stands in place of, and what needs a signature where sizes are signed. */
const SHAPING = ["resize", "convert", "page"] as const;

/**
 * Checks a request for `<id>.<format>`. Rejects parameters out of form or range and unknown presets with `bad_request`, and with
 * `forbidden` a signature that is not the address's own, an end without signature, and a size that needs one and has none.
 */
export function checkRead(
  id: string,
  format: ImageFormat,
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
        "The signature s is not that of this address: it covers the image, the format and every parameter",
      );
    }
  } else if (untilMs !== null) {
    throw new ServiceError("forbidden", "An address with until must be signed: s is missing");
  }
  const value: ParameterSource = body === undefined ? ofQuery : (name) => body.get(name);
  const asked = parseAsked(format, value, presets);
  const isSigned = s !== "" && !["preset", ...SHAPING].some((name) => body?.has(name));
  const isExact = isSigned || asked.preset !== undefined;
  if (sizes.needsSignature && !isExact && SHAPING.some((name) => isGiven(value(name)))) {
    throw new ServiceError("forbidden", unsignedDetail(presets));
  }
  return { parameters: asked.parameters, isExact, untilMs };
}

/** Rejects with `forbidden` from the end of a signed address on. */
export function requireInTime(untilMs: number | null, nowMs: number): void {
  if (untilMs === null || nowMs < untilMs) return;
  throw new ServiceError("forbidden", `This address was valid until ${new Date(untilMs).toISOString()}`);
}

interface Asked {
  parameters: ReadParameters;
  /** Name of the preset that they are those of. */
  preset?: string;
}

/** The parameters, or those of the preset. Rejects both together. */
export function parseAsked(format: ImageFormat, value: ParameterSource, presets: Presets): Asked {
  const preset = value("preset");
  if (!isGiven(preset)) return { parameters: parseReadParameters(format, value) };
  const beside = SHAPING.find((name) => isGiven(value(name)));
  if (beside !== undefined) {
    throw new ServiceError("bad_request", `preset takes the place of ${beside}: give one of them`);
  }
  const parameters = parseReadParameters(format, presetSource(presets, preset));
  return { parameters, preset: String(preset) };
}

/** What a signature covers of it: of a preset its name, whatever it stands for by then. */
export function meantBy({ parameters, preset }: Asked): Pick<SignedAddress, "parameters" | "preset"> {
  return preset === undefined ? { parameters } : { parameters: {}, preset };
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null && value !== "";
}

/** Latest moment that a Date can hold. */
export const MAX_UNTIL_MS = 8.64e15;

function parseUntil(text: string): number | null {
  if (text === "") return null;
  const untilMs = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  if (untilMs <= MAX_UNTIL_MS) return untilMs;
  throw new ServiceError("bad_request", "until must be Unix milliseconds");
}

function unsignedDetail(presets: Presets): string {
  const names = [...presets.keys()].map((name) => `preset=${name}`).join(", ");
  const open = names === "" ? "" : ` Without signature there is ${names}.`;
  return `resize, convert and page need an address that the host signed.${open}`;
}
