import type { Pages } from "../../../contracts/pages.ts";
import type { Renderer } from "../../../contracts/renderer.ts";
import { describeApi } from "../../../openapi/describe-api.ts";
import { createDescription, type Description } from "../../../openapi/description.ts";
import type { ApiPart } from "../../../openapi/document.ts";
import { VERSION } from "../../../openapi/version.ts";
import type { ImageSettings } from "../../image-settings.ts";
import { ALL_FORMATS, ORIGINAL_TYPES } from "../../record/formats.ts";
import { lifetimeOverHttp } from "../../record/image-fields.ts";
import { isServable } from "../../record/image-links.ts";
import type { ImageFacts } from "./image-facts.ts";
import { descriptionRefusals, imagePart, otherImageMethods } from "./image-part.ts";

/** The parts of a service that its description depends on. */
interface DescribedContext {
  pages: Pages | null;
  renderer: Renderer;
  settings: ImageSettings;
}

/** Describes the service with its current options, as part of a larger API description. */
export function describeImages(context: DescribedContext): ApiPart {
  return imagePart(factsOf(context));
}

/** The description at `GET {base}/api/openapi.json`. */
export function createImageDescription(context: DescribedContext): Description {
  return createDescription(() => {
    const facts = factsOf(context);
    return describeApi([imagePart(facts)], {
      version: VERSION,
      refusals: descriptionRefusals(facts),
      otherMethods: otherImageMethods("json"),
    });
  });
}

function factsOf({ pages, renderer, settings }: DescribedContext): ImageFacts {
  const servable = ALL_FORMATS.map((format) => ({
    format,
    from: ORIGINAL_TYPES.filter((type) => isServable(renderer, { type }, format)),
  }));
  const { sizes, presets, cacheTag, importsUrls } = settings;
  const { maxUploadBytes, maxLifetimeMs, tombstoneMs } = settings;
  return {
    hasPages: pages !== null,
    hasUploadForm: pages?.created !== undefined,
    requiresTls: settings.tls !== "off",
    asksHost: settings.authorize !== null,
    leavesFailures: settings.errors === "host",
    formats: servable.filter(({ from }) => from.length > 0).map(({ format }) => format),
    partialFormats: servable
      .filter(({ from }) => from.length < ORIGINAL_TYPES.length)
      .map(({ format }) => format),
    limits: settings.rules,
    sizes,
    presets,
    cacheTag,
    importsUrls,
    maxUploadBytes,
    defaultLifetimeMs: lifetimeOverHttp(settings),
    maxLifetimeMs,
    tombstoneMs,
  };
}
