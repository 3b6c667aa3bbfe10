import { createHash } from "node:crypto";
import type { Page } from "@outrigger/core/images";
import { type Address, absoluteAddress, pathSource } from "./addresses.ts";
import { type Entry, loadAssets } from "./assets.ts";
import { type Html, type HtmlValue, html, markupOf, trusted } from "./html.ts";
import { directionOf } from "./messages/languages.ts";
import { scriptTexts } from "./messages/script-texts.ts";
import { STYLE } from "./style.ts";
import { t, texts } from "./texts.ts";

/** The parts that all pages of a site share. */
export interface Site {
  productName: string;
  /** Addresses in the footer. @default no links */
  contact?: string | undefined;
  terms?: string | undefined;
}

/** The parts that differ between pages. */
export interface DocumentParts extends Site {
  title: string;
  /** Absolute URL of the mount point. The page's files are below it. */
  baseUrl: string;
  /** Names the page's layout in the style sheet. */
  layout: "viewer" | "edit" | "problem" | "upload" | "admin";
  /** The page's script and style sheets. Absent: the page has none. */
  entry?: Entry;
  /** Styles that no other page needs: a constant of this package. */
  style?: string;
  /** The server's time, Unix milliseconds, for scripts that compare it with other times of the server. */
  nowMs?: number;
  /** Address of the form to report the image, for the footer. @default no link */
  reportUrl?: string | undefined;
  /** More elements of the head. */
  head?: HtmlValue;
  main: Html;
  /** Addresses that the page loads in `<img>`. */
  pictures?: readonly Address[];
  /** Addresses that the page's forms are sent to. */
  forms?: readonly Address[];
  /** Directives that are added to the common policy or replace some of it. */
  policy?: Readonly<Record<string, string>>;
}

/** Without the spaces that only people need. */
const SHEET = STYLE.replace(/\s*\n\s*/g, "")
  .replace(/([:;,{]) /g, "$1")
  .replaceAll(" {", "{");
const STYLE_SOURCE = sourceOf(SHEET);

function sourceOf(style: string): string {
  return `'sha256-${createHash("sha256").update(style).digest("base64")}'`;
}

/** A complete page with its policy. */
export function documentPage(parts: DocumentParts): Page {
  const files = filesOf(parts);
  const icon = assetAddress(parts.baseUrl, loadAssets().icon);
  const { language } = texts();
  const markup = html`<!doctype html>
<html lang="${language}" dir="${directionOf(language)}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${parts.title} · ${parts.productName}</title>
${parts.head}
<style>${trusted(SHEET)}</style>
${parts.style !== undefined && html`<style>${trusted(parts.style)}</style>`}
${icon !== null && html`<link rel="icon" type="image/svg+xml" href="${icon.href}">`}
${files?.imports.map(({ href }) => html`<link rel="modulepreload" href="${href}">`)}
${files?.styles.map(({ href }) => html`<link rel="stylesheet" href="${href}">`)}
${files !== null && parts.entry !== undefined && scriptTexts(parts.entry)}
${files !== null && html`<script type="module" src="${files.script.href}"></script>`}
</head>
<body class="${parts.layout}">
${headerMarkup(parts, icon)}
<main${parts.nowMs !== undefined && html` data-now="${parts.nowMs}"`}>
${parts.main}
</main>
${footerMarkup(parts)}</body>
</html>
`;
  return { html: markupOf(markup), contentSecurityPolicy: policyOf(parts, files, icon) };
}

/** The header links to the upload page; on other pages it also says so. */
function headerMarkup({ productName, baseUrl, layout }: DocumentParts, icon: Address | null): Html {
  const base = absoluteAddress(baseUrl);
  if (base === null) return html`<header>${productName}</header>`;
  const front = `${base.href.replace(/\/$/, "")}/`;
  return html`<header><a class="brand" href="${front}">${icon !== null && html`<img src="${icon.href}" alt="" width="28" height="28">`}${productName}</a>${
    !["upload", "admin"].includes(layout) &&
    html`<a class="button plain" href="${front}">${t("page.upload")}</a>`
  }</header>`;
}

function footerMarkup({ contact, terms, reportUrl, baseUrl, layout }: DocumentParts): Html {
  const base = absoluteAddress(baseUrl)?.href.replace(/\/$/, "");
  const report = absoluteAddress(reportUrl ?? "");
  return html`<footer>${[
    report !== null && html`<a href="${report.href}" rel="nofollow">${t("report.link")}</a>`,
    terms !== undefined && html`<a href="${terms}">${t("page.terms")}</a>`,
    base !== undefined && layout !== "admin" && html`<a href="${base}/api/openapi.json">API</a>`,
    base !== undefined && layout === "upload" && html`<a href="${base}/sharex.sxcu">ShareX</a>`,
    contact !== undefined && html`<a href="${contact}">${t("page.contact")}</a>`,
  ]}</footer>\n`;
}

interface LinkedFiles {
  script: Address;
  imports: readonly Address[];
  styles: readonly Address[];
  /** The policy source of the page's own files. */
  source: string;
}

/** `null` when the page has no files, or when `baseUrl` is not a usable address. */
function filesOf({ entry, baseUrl }: DocumentParts): LinkedFiles | null {
  const directory = assetAddress(baseUrl, "");
  if (entry === undefined || directory === null) return null;
  const { script, imports, styles } = loadAssets().filesOf(entry);
  const addressOf = (name: string) => ({ ...directory, href: directory.href + name });
  return {
    script: addressOf(script),
    imports: imports.map(addressOf),
    styles: styles.map(addressOf),
    // Not the whole origin: scripts of the host app must not run here.
    source: pathSource(directory.href) ?? sourceList([directory]),
  };
}

/** URL of an asset; `null` when `baseUrl` is not a usable address. */
export function assetAddress(baseUrl: string, name: string): Address | null {
  const base = absoluteAddress(baseUrl);
  return base === null ? null : { ...base, href: `${base.href.replace(/\/$/, "")}/assets/${name}` };
}

function policyOf(
  { pictures = [], forms = [], policy = {}, style }: DocumentParts,
  files: LinkedFiles | null,
  icon: Address | null,
): string {
  const own = style === undefined ? STYLE_SOURCE : `${STYLE_SOURCE} ${sourceOf(style)}`;
  const directives = {
    "default-src": "'none'",
    "img-src": sourceList(icon === null ? pictures : [icon, ...pictures]),
    "style-src": files === null ? own : `${own} ${files.source}`,
    ...(files === null ? {} : { "script-src": files.source }),
    "form-action": sourceList(forms),
    "base-uri": "'none'",
    "frame-ancestors": "'none'",
    ...policy,
  };
  return Object.entries(directives)
    .map(([name, value]) => `${name} ${value}`)
    .join("; ");
}

/** A list of policy sources. The host may have several names, so addresses are listed in addition to 'self'. */
export function sourceList(addresses: readonly Address[]): string {
  const sources = addresses.map((address) => address.source).filter((source) => source !== null);
  return ["'self'", ...new Set(sources)].join(" ");
}
