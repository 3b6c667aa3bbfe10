import { LRUCache } from "lru-cache";
import type { ImageFormat, OriginalFacts, OriginalType, Size } from "../../../contracts/renderer.ts";
import { CHEAP_MS } from "./queue-order.ts";

/** A render whose cost is predicted. */
export interface RenderFacts {
  /** ID of the image. */
  id: string;
  original: OriginalFacts;
  format: ImageFormat;
  /** The resulting size; `null`: unknown before the render. */
  target: Size | null;
  fromIntermediate: boolean;
}

/** The predicted cost of some work. */
export interface ExpectedCost {
  /** CPU milliseconds. */
  predictedMs: number;
  /** Corrects later predictions by the measured cost. */
  learn(cpuMs: number): void;
}

/** Predicts the CPU time of work on pictures. */
export interface RenderCosts {
  ofRender(facts: RenderFacts): ExpectedCost;
  /** @param size Size of the upload in bytes. */
  ofAdmission(type: OriginalType, size: number): ExpectedCost;
}

/** Fixed cost of any work in milliseconds. */
const BASE_MS = 4;
/** Milliseconds per megapixel of the original. A vector picture has no pixels to decode. */
const DECODE_MS: Record<OriginalType, number> = {
  "image/jpeg": 6,
  "image/png": 16,
  "image/gif": 12,
  "image/x-photoshop": 20,
  "image/svg+xml": 0,
  "application/pdf": 0,
};
/** Milliseconds per megapixel of the rendition, encoding included. */
const ENCODE_MS: Record<ImageFormat, number> = {
  jpg: 20,
  png: 60,
  gif: 400,
  webp: 120,
  avif: 300,
  psd: 30,
  pdf: 60,
  svg: 60,
};
/** Milliseconds per megabyte of an upload. */
const ADMIT_MS: Record<OriginalType, number> = {
  "image/jpeg": 50,
  "image/png": 60,
  "image/gif": 150,
  "image/x-photoshop": 15,
  "image/svg+xml": 150,
  "application/pdf": 100,
};
/** Megapixels of an intermediate. */
const INTERMEDIATE_MEGAPIXELS = 2;
/** Assumed megapixels of an original or a rendition of unknown size. */
const UNKNOWN_MEGAPIXELS = 2;
/** A picture that costs more than this multiple of its model counts as dear at every size. */
const EXCESS = 4;
/** Weight of the newest measurement in the mean of a type and format. */
const NEWEST_WEIGHT = 1 / 8;
/** Most correction by the mean: one hostile picture must not make a whole type dear. */
const MAX_CORRECTION = 4;
const MAX_IMAGES = 20_000;

export function createRenderCosts(): RenderCosts {
  /** Ratio of measured to modelled cost, by type and format. */
  const ratios = new Map<string, number>();
  /** Cost of the last render of each image. */
  const images = new LRUCache<string, { cpuMs: number; modelMs: number }>({ max: MAX_IMAGES });

  const ratioOf = (kind: string) => ratios.get(kind) ?? 1;

  function learnRatio(kind: string, modelMs: number, cpuMs: number): void {
    const ratio = Math.min(MAX_CORRECTION, Math.max(1 / MAX_CORRECTION, cpuMs / modelMs));
    ratios.set(kind, ratioOf(kind) + (ratio - ratioOf(kind)) * NEWEST_WEIGHT);
  }

  return {
    ofRender(facts) {
      const { id, original, format } = facts;
      const kind = `${original.type} ${format} ${facts.fromIntermediate}`;
      const modelMs = modelOf(facts);
      return {
        get predictedMs() {
          const last = images.get(id);
          if (last === undefined) return unmeasured(original.type, modelMs * ratioOf(kind));
          const scaledMs = (last.cpuMs * modelMs) / last.modelMs;
          return last.cpuMs > EXCESS * last.modelMs ? Math.max(last.cpuMs, scaledMs) : scaledMs;
        },
        learn(cpuMs) {
          learnRatio(kind, modelMs, cpuMs);
          images.set(id, { cpuMs, modelMs });
        },
      };
    },
    ofAdmission(type, size) {
      const kind = `${type} admit`;
      const modelMs = BASE_MS + (size / 1e6) * ADMIT_MS[type];
      return {
        predictedMs: unmeasured(type, modelMs * ratioOf(kind)),
        learn: (cpuMs) => learnRatio(kind, modelMs, cpuMs),
      };
    },
  };
}

/** The cost of an SVG or a PDF is unknown until it is measured, so it counts as dear until then. */
function unmeasured(type: OriginalType, predictedMs: number): number {
  const isText = type === "image/svg+xml" || type === "application/pdf";
  return isText ? Math.max(CHEAP_MS, predictedMs) : predictedMs;
}

function modelOf({ original, format, target, fromIntermediate }: RenderFacts): number {
  const decoded = fromIntermediate
    ? INTERMEDIATE_MEGAPIXELS * DECODE_MS["image/png"]
    : megapixels(original) * frames(original) * DECODE_MS[original.type];
  const drawn = megapixels(target ?? original) * (isAnimation(original, format) ? frames(original) : 1);
  return BASE_MS + decoded + drawn * ENCODE_MS[format];
}

function megapixels({ width, height }: { width: number | null; height: number | null }): number {
  return width === null || height === null ? UNKNOWN_MEGAPIXELS : (width * height) / 1e6;
}

/** Frames of an animation. Pages of a PDF are drawn one at a time. */
function frames({ type, pages }: OriginalFacts): number {
  return type === "image/gif" ? (pages ?? 1) : 1;
}

function isAnimation({ type }: OriginalFacts, format: ImageFormat): boolean {
  return type === "image/gif" && (format === "gif" || format === "webp");
}
