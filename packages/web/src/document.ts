import { createHash } from "node:crypto";
import type { Page } from "@outrigger/core";
import type { Address } from "./addresses.ts";
import { type Html, type HtmlValue, html, markupOf, trusted } from "./html.ts";
import { STYLE } from "./style.ts";

/** The parts of a page that differ. */
export interface DocumentParts {
  title: string;
  productName: string;
  /** Names the page's layout in the style sheet. */
  layout: "viewer" | "edit" | "problem";
  /** More elements of the head. */
  head?: HtmlValue;
  main: Html;
  /** What the page shows in `<img>`. */
  pictures?: readonly Address[];
  /** Where the page's forms go. */
  forms?: readonly Address[];
}

const STYLE_SOURCE = `'sha256-${createHash("sha256").update(STYLE).digest("base64")}'`;

/** A whole page with its policy. */
export function documentPage(parts: DocumentParts): Page {
  const markup = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${parts.title} · ${parts.productName}</title>
${parts.head}
<style>${trusted(STYLE)}</style>
</head>
<body class="${parts.layout}">
<header>${parts.productName}</header>
<main>
${parts.main}
</main>
</body>
</html>
`;
  return { html: markupOf(markup), contentSecurityPolicy: policyOf(parts) };
}

function policyOf({ pictures = [], forms = [] }: DocumentParts): string {
  return [
    "default-src 'none'",
    `img-src ${sourceList(pictures)}`,
    `style-src ${STYLE_SOURCE}`,
    `form-action ${sourceList(forms)}`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
}

/** The page cannot know under which of several names it was reached, so absolute addresses are named besides 'self'. */
function sourceList(addresses: readonly Address[]): string {
  const sources = addresses.map((address) => address.source).filter((source) => source !== null);
  return ["'self'", ...new Set(sources)].join(" ");
}
