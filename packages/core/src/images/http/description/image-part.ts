import type { ApiPart, ApiResponse, PathItem } from "../../../openapi/document.ts";
import { HEADER_COMPONENTS, headersOf } from "../../../openapi/headers.ts";
import { PROBLEM_SCHEMA, type ProblemForm, problemResponse } from "../../../openapi/problems.ts";
import { ROUTES } from "../routes.ts";
import type { ImageFacts } from "./image-facts.ts";
import { everywhere, refusals } from "./image-refusals.ts";
import { IMAGE_SCHEMAS } from "./image-schemas.ts";

/** An image service as part of a description. */
export function imagePart(facts: ImageFacts): ApiPart {
  return {
    title: "Image hosting",
    description: description(facts),
    tags: [
      { name: "Images", description: "Uploading, reading, changing and deleting." },
      { name: "Pages", description: "What people open in a browser." },
    ],
    paths: pathsOf(facts),
    components: {
      schemas: { ...IMAGE_SCHEMAS, Problem: PROBLEM_SCHEMA },
      headers: HEADER_COMPONENTS,
      securitySchemes: {
        imagePin: {
          type: "apiKey",
          in: "header",
          name: "X-Service-Image-Pin",
          description: "The PIN that the answer to the upload told.",
        },
        imagePinInQuery: {
          type: "apiKey",
          in: "query",
          name: "pin",
          description: "The same in the query, where it may end up in logs.",
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

/** What methods that an address does not permit are answered. */
export function otherImageMethods(form: ProblemForm): ApiResponse {
  return problemResponse(
    form,
    405,
    "`Allow` lists the methods that the address permits.",
    headersOf("Allow"),
  );
}

/** How the description's own address is refused. */
export function descriptionRefusals(facts: ImageFacts): Record<string, ApiResponse> {
  return refusals(facts, "json", everywhere(facts));
}

function description({ defaultLifetimeMs, limits }: ImageFacts): string {
  const rule = (name: keyof ImageFacts["limits"]) => limits[name]?.limit ?? "any number of";
  const hours = Math.round((defaultLifetimeMs / 3_600_000) * 100) / 100;
  return [
    "## Images",
    `Upload a PNG, JPEG, GIF, SVG, PSD or PDF and get it back in any of these formats, for ${hours} hours unless you say otherwise.`,
    "The answer to an upload has a PIN, with which the image can be changed and deleted: as the header `X-Service-Image-Pin`, or as `pin` in the query or the body.",
    "Parameters are part of the query or of a JSON object or form in the body, which goes first; unknown ones are ignored. Dates of answers are ISO 8601 in UTC with milliseconds. All text is UTF-8.",
    `A client may upload ${rule("creates")}, read ${rule("reads")} and change ${rule("edits")} images a minute.`,
    "What is refused is answered as `application/problem+json` (RFC 9457), under `.txt` as a line of text. Methods that an address does not permit get 405, OPTIONS gets 204, both with `Allow`.",
  ].join("\n\n");
}
