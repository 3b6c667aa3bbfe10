import type { ApiPart, ApiResponse, PathItem } from "../../../openapi/document.ts";
import { headerComponents, inlineHeader } from "../../../openapi/headers.ts";
import { PROBLEM_SCHEMA, type ProblemForm, problemResponse } from "../../../openapi/problems.ts";
import { ROUTES } from "../routes.ts";
import type { ImageFacts } from "./image-facts.ts";
import { everywhere, refusals } from "./image-refusals.ts";
import { IMAGE_SCHEMAS } from "./image-schemas.ts";

/** An image service as part of an API description. */
export function imagePart(facts: ImageFacts): ApiPart {
  const paths = pathsOf(facts);
  return {
    title: "Image hosting",
    description: description(facts),
    tags: [
      { name: "Images", description: "Upload, read, edit and delete images." },
      { name: "Pages", description: "Pages for browsers." },
    ],
    paths,
    components: {
      schemas: { ...IMAGE_SCHEMAS, Problem: PROBLEM_SCHEMA },
      headers: headerComponents(paths),
      securitySchemes: {
        imagePin: {
          type: "apiKey",
          in: "header",
          name: "X-Service-Image-Pin",
          description: "The PIN from the reply to the upload.",
        },
        imagePinInQuery: {
          type: "apiKey",
          in: "query",
          name: "pin",
          description: "The PIN in the query. It may end up in logs.",
        },
      },
    },
  };
}

function pathsOf(facts: ImageFacts): Record<string, PathItem> {
  const paths: Record<string, PathItem> = {};
  for (const { pattern, form, needsPages = false, describe } of ROUTES) {
    const item = needsPages && !facts.hasPages ? null : describe(facts);
    if (item === null) continue;
    const others = otherImageMethods(form === "page" && !facts.hasPages ? "json" : form);
    paths[pattern] = { ...item, "x-other-methods": others };
  }
  return paths;
}

/** The reply to a method that an address does not permit. */
export function otherImageMethods(form: ProblemForm): ApiResponse {
  return problemResponse(
    form,
    405,
    "`Allow` lists the methods that the URL supports.",
    inlineHeader("Allow"),
  );
}

/** Refusals of the description's own address. */
export function descriptionRefusals(facts: ImageFacts): Record<string, ApiResponse> {
  return refusals(facts, "json", everywhere(facts));
}

function description({ defaultLifetimeMs, limits }: ImageFacts): string {
  const rule = (name: keyof ImageFacts["limits"]) => {
    const { limit = "unlimited", burst } = limits[name] ?? {};
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
    "Errors use `application/problem+json` (RFC 9457), or plain text for `.txt`. OPTIONS returns 204 and an unsupported method 405, both with `Allow`.",
  ].join("\n\n");
}
