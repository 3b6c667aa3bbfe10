import type { PictureEdits } from "../../contracts/picture-edits.ts";
import type { FoundPlace, PicturePoint, Renderer } from "../../contracts/renderer.ts";
import { isServiceError, ServiceError } from "../../errors.ts";
import * as rules from "../../option-rules.ts";
import { type JsonSchema, patternOf } from "../../schema/json-schema.ts";
import { EDIT_RULES, editsOf, type PictureEditOptions } from "./edit-options.ts";
import { CONVERT_SCHEMA, type ParameterSource, parseAt, RENDITION_SCHEMAS } from "./read-parameters.ts";

/** A checked preset. */
export interface Preset extends Omit<PresetOption, keyof PictureEditOptions> {
  /** `undefined`: none. */
  edits: PictureEdits | undefined;
}

/** Presets by name. */
export type Presets = ReadonlyMap<string, Preset>;

const PRESET_NAME = /^[a-z0-9-]{1,32}$/;
const RESIZE = patternOf(RENDITION_SCHEMAS.resize);
const BACKGROUND = patternOf(RENDITION_SCHEMAS.background);
const SIDES = "<MaxWidth>x<MaxHeight>, <MaxWidth>x or x<MaxHeight> with sides of 1 to 8192 pixels";

const PRESET_RULES = {
  /** `<MaxWidth>x<MaxHeight>`, `<MaxWidth>x` or `x<MaxHeight>`, with sides of 1 to 8192 pixels. @default the natural size */
  resize: rules.text(SIDES, (text) => RESIZE.test(text)),
  /** Quality of a JPEG. Other formats ignore it. @default "high" */
  convert: rules.oneOf(...CONVERT_SCHEMA.enum),
  /** Page of a PDF, 1 to 999999999. @default the first page; all pages for `.pdf` */
  page: rules.whole(RENDITION_SCHEMAS.page.minimum, RENDITION_SCHEMAS.page.maximum),
  /**
   * `contain`: the picture fits inside the box. `cover`: it fills the box and is cut. `pad`: bars fill the box. Needs
   * both sides of `resize`.
   * @default "contain"
   */
  fit: rules.oneOf(...RENDITION_SCHEMAS.fit.enum),
  /**
   * The part that `cover` keeps: `[x, y]` in shares from the top left, `attention` or `entropy`.
   * @default the image's focus, else the centre
   */
  at: rules.value<PicturePoint | FoundPlace>(
    '[x, y] with numbers from 0 to 1, "attention" or "entropy"',
    isPlace,
  ),
  /** Colour of the bars: `rrggbb` or `transparent`. @default `"transparent"`; white in formats without transparency */
  background: rules.text('six hexadecimal digits, or "transparent"', (text) => BACKGROUND.test(text)),
  ...EDIT_RULES,
};

/** The parameters of a preset, as in a request, and edits that no request can name. At least one is set. */
export interface PresetOption extends rules.Options<typeof PRESET_RULES> {}

const PRESET_RULE = rules.refined(rules.nested(PRESET_RULES), (given: PresetOption) => {
  const isEmpty = Object.values(given).every((each) => each === undefined);
  if (isEmpty)
    return [{ path: "", text: `must have at least one of ${Object.keys(PRESET_RULES).join(", ")}` }];
  const isCropped = [given.fit, given.at, given.background].some((each) => each !== undefined);
  const hasBox = /\dx\d/.test(given.resize ?? "");
  return isCropped && !hasBox
    ? [{ path: ".resize", text: "must have both sides, because of fit, at or background" }]
    : [];
});

function isPlace(given: unknown): boolean {
  try {
    return parseAt(given) !== undefined;
  } catch {
    // Not a place: the rule names what is.
    return false;
  }
}

/** The rule of the option `presets`: names must fit in an address unescaped. */
export const PRESETS_RULE = rules.preset(
  {},
  rules.refined(rules.named(PRESET_RULE), (given: object) =>
    Object.keys(given)
      .filter((name) => !PRESET_NAME.test(name))
      .map((name) => ({ path: `.${name.slice(0, 64)}`, text: "must be named by 1 to 32 of a-z, 0-9 and -" })),
  ),
);

/** The presets of a checked option. @throws TypeError for a watermark that cannot be read. */
export function presetsOf(option: Readonly<Record<string, PresetOption>>): Presets {
  return new Map(
    Object.entries(option).map(([name, { rotate, watermark, ...parameters }]) => {
      const edits = editsOf(`presets.${name}`, { rotate, watermark });
      return [name, { ...parameters, edits }];
    }),
  );
}

/** Reports each watermark that the renderer cannot draw, before the first request for it. Never rejects. */
export async function checkWatermarks(
  presets: Presets,
  renderer: Pick<Renderer, "render">,
  onError: (error: unknown) => void,
): Promise<void> {
  for (const [name, { edits }] of presets) {
    if (edits?.watermark === undefined) continue;
    const { image, type } = edits.watermark;
    const source = { bytes: Buffer.from(image, "base64") };
    try {
      await renderer.render(source, type, { format: "png", maxWidth: 16, maxHeight: 16 });
    } catch (cause) {
      // Other errors are not of this image: the renderer is busy, closed or does not work.
      if (!isServiceError(cause, "unsupported_media") && !isServiceError(cause, "too_costly")) return;
      onError(new Error(`presets.${name}.watermark.image cannot be drawn: ${cause.message}`, { cause }));
    }
  }
}

/** Schema of the parameter `preset`; `null`: no presets are set. */
export function presetSchema(presets: Presets): JsonSchema | null {
  if (presets.size === 0) return null;
  return {
    type: "string",
    enum: [...presets.keys()],
    description:
      "A named size, quality, page and crop, perhaps with changes such as a watermark. Replaces `resize`, `convert`, `page`, `fit`, `at` and `background`.",
  };
}

/** The parameters of a preset. Throws `bad_request` for an unknown name. */
export function presetSource(presets: Presets, name: unknown): ParameterSource {
  const preset = typeof name === "string" ? presets.get(name) : undefined;
  if (preset !== undefined) return (parameter) => preset[parameter as keyof Preset]; // Parameters that the preset does not set are absent.
  const known = [...presets.keys()].join(", ");
  throw new ServiceError(
    "bad_request",
    known === "" ? "preset is unknown: this service has no presets" : `preset must be one of ${known}`,
  );
}

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
    {
      steps: rules.required(
        rules.value<readonly number[]>(
          `a list of 1 to ${MAX_STEPS} whole numbers from 1 to ${MAX_STEP}`,
          isLadder,
        ),
      ),
    },
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

function isLadder(given: unknown): boolean {
  return (
    Array.isArray(given) &&
    given.length > 0 &&
    given.length <= MAX_STEPS &&
    given.every((step) => Number.isInteger(step) && step >= 1 && step <= MAX_STEP)
  );
}
