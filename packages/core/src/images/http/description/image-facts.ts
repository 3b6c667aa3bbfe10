import type { RateRule } from "../../../contracts/rate-limiter.ts";
import type { ImageFormat } from "../../../contracts/renderer.ts";
import type { ImageRateLimits } from "../../images-options.ts";
import type { Presets, SizePolicy } from "../../renditions/presets.ts";

/** The facts that the description of an image service depends on. */
export interface ImageFacts {
  hasPages: boolean;
  /** Whether the upload page has a form for browsers without JavaScript. */
  hasUploadForm: boolean;
  /** Whether connections without TLS may be refused. */
  requiresTls: boolean;
  /** Whether the host app decides about requests. */
  asksHost: boolean;
  /** Whether unexpected failures are passed to the host app. */
  leavesFailures: boolean;
  /** Output formats that at least one type of image can be served as. */
  formats: readonly ImageFormat[];
  /** Those `formats` that some types of images cannot be served as. */
  partialFormats: readonly ImageFormat[];
  sizes: SizePolicy;
  presets: Presets;
  /** Name of the header with the image's ID; `null`: none. */
  cacheTag: string | null;
  /** Whether clients may create images from URLs. */
  importsUrls: boolean;
  maxUploadBytes: number;
  /** `null`: no end; likewise `maxLifetimeMs`. */
  defaultLifetimeMs: number | null;
  maxLifetimeMs: number | null;
  tombstoneMs: number;
  /** `null`: no limit. */
  limits: Readonly<Record<keyof ImageRateLimits, RateRule | null>>;
}
