import type { Pages } from "../../../contracts/pages.ts";
import type { Renderer } from "../../../contracts/renderer.ts";
import { createDescription, type Description } from "../../../openapi/description.ts";
import type { ApiPart } from "../../../openapi/document.ts";
import { headerComponents } from "../../../openapi/headers.ts";
import { keyScheme } from "../../../openapi/operations.ts";
import { PROBLEM_SCHEMA } from "../../../openapi/problems.ts";
import type { ImageSettings } from "../../image-settings.ts";
import { ALL_FORMATS, ORIGINAL_TYPES } from "../../record/formats.ts";
import { isServable } from "../../record/image-links.ts";
import { ROUTES } from "../routes.ts";
import { descriptionRefusals, type ImageFacts, imagePath } from "./image-path.ts";
import { IMAGE_SCHEMAS } from "./image-schemas.ts";

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
    return {
      parts: [imagePart(facts)],
      refusals: descriptionRefusals(facts),
    };
  });
}

function factsOf({ pages, renderer, settings }: DescribedContext): ImageFacts {
  const servable = ALL_FORMATS.map((format) => ({
    format,
    count: ORIGINAL_TYPES.filter((type) => isServable(renderer, { type }, format)).length,
  }));
  const formatsOf = (counts: typeof servable) => counts.map(({ format }) => format);
  return {
    ...settings,
    hasPages: pages !== null,
    formats: formatsOf(servable.filter(({ count }) => count > 0)),
    partialFormats: formatsOf(servable.filter(({ count }) => count < ORIGINAL_TYPES.length)),
    defaultLifetimeMs: settings.httpLifetimeMs,
  };
}

/** An image service as part of an API description. */
function imagePart(facts: ImageFacts): ApiPart {
  const paths = Object.fromEntries(
    ROUTES.flatMap((route) => {
      const item = imagePath(facts, route);
      return item === null ? [] : [[route.pattern, item]];
    }),
  );
  return {
    title: "Image hosting",
    description: description(facts),
    tags: [{ name: "Images", description: "Upload, read, edit and delete images." }],
    paths,
    components: {
      schemas: { ...IMAGE_SCHEMAS, Problem: PROBLEM_SCHEMA },
      headers: headerComponents(paths),
      securitySchemes: {
        imagePin: keyScheme("header", "X-Service-Image-Pin", "The PIN from the reply to the upload."),
        imagePinInQuery: keyScheme("query", "pin", "The PIN in the query. It may end up in logs."),
      },
    },
  };
}

function description({ defaultLifetimeMs, rules }: ImageFacts): string {
  const rule = (name: keyof ImageFacts["rules"]) => {
    const { limit = "unlimited", burst } = rules[name] ?? {};
    return burst === undefined ? limit : `${limit} (${burst} at once)`;
  };
  const hours = (ms: number) => `lives for ${Math.round((ms / 3_600_000) * 100) / 100} hours`;
  const life = defaultLifetimeMs === null ? "never expires" : hours(defaultLifetimeMs);
  return [
    "## Images",
    `Upload a PNG, JPEG, GIF, SVG, PSD or PDF and read it in any of these formats. An image ${life} unless \`expiresAt\` is set.`,
    "The reply to an upload contains a PIN. Send it to edit or delete the image: as the header `X-Service-Image-Pin`, or as `pin` in the query or the body.",
    "Parameters are sent in the query, or in the body as a JSON object or form; body values override the query. Unknown parameters are ignored. Dates in replies are ISO 8601 in UTC with milliseconds. All text is UTF-8.",
    `Limits per client and minute: ${rule("creates")} uploads, ${rule("reads")} reads, ${rule("edits")} edits.`,
    "HEAD is GET without the body; it renders nothing. Errors use `application/problem+json` (RFC 9457), or plain text for `.txt`. OPTIONS returns 204 and an unsupported method 405, both with `Allow`.",
  ].join("\n\n");
}
