import type { ImageFormat, OriginalFacts, Renderer, Size } from "../../contracts/renderer.ts";
import * as rules from "../../option-rules.ts";
import type { ReadParameters } from "./rendition-spec.ts";

/** The ladder of `sizes: "steps"`: longer sides in pixels. */
export const DEFAULT_STEPS: readonly number[] = [
  64, 128, 256, 320, 480, 640, 800, 1024, 1280, 1600, 1920, 2560, 3840, 5120, 8192,
];

const MAX_STEPS = 64;
const MAX_STEP = 8192;

/** A ladder of sizes. */
export interface SizeSteps {
  /** Longer sides in pixels, 1 to 64 whole numbers from 1 to 8192, in any order. */
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
