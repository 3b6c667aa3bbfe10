import { Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import type { FoundPage } from "@outrigger/sql";
import { resolvedUrl } from "../extract/page-head.ts";
import { foundPage, isWithin, MAX_URL_LENGTH, pageKey, plainUrl } from "./page-address.ts";
import { readBody } from "./page-fetcher.ts";

/** Longer sitemaps are cut. */
export const MAX_SITEMAP_BYTES = 16 * 1024 * 1024;
/** As the protocol bounds a file. */
const MAX_ENTRIES = 50_000;
/** Sitemaps of a robots.txt or of an index of sitemaps that are read. */
const MAX_SITEMAPS = 5;
const BATCH = 500;
// No two neighbours match the same characters: hostile text would take quadratic time.
const LOCATION = /<(?:\w+:)?loc\s*>(?:\s*<!\[CDATA\[)?([^<]*)</gi;
const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

/** The pages of a sitemap, or the sitemaps of an index, in batches. @param depth 1 for a sitemap of an index. */
export async function* readSitemap(body: Buffer, domain: string, depth: number): AsyncGenerator<FoundPage[]> {
  const isPacked = body[0] === 0x1f && body[1] === 0x8b;
  const source = () => Readable.from([body]).pipe(createGunzip());
  const text = (isPacked ? (await readBody(source(), MAX_SITEMAP_BYTES)).body : body).toString("utf8");
  if (/<(?:\w+:)?sitemapindex[\s>]/i.test(text)) {
    if (depth === 0) yield foundSitemaps(locations(text), domain, 1);
    return;
  }
  let found: FoundPage[] = [];
  for (const url of locations(text)) {
    found.push(...[foundPage(url, "", domain, 1) ?? []].flat());
    if (found.length < BATCH) continue;
    yield found;
    found = [];
  }
  yield found;
}

/** The sitemaps of a domain among some URLs. */
export function foundSitemaps(urls: Iterable<URL>, domain: string, depth: number): FoundPage[] {
  const found: FoundPage[] = [];
  for (const given of urls) {
    if (found.length === MAX_SITEMAPS) break;
    if (!isWithin(given.hostname, domain) || given.href.length > MAX_URL_LENGTH) continue;
    const url = plainUrl(given);
    found.push({ key: pageKey(url), url: url.href, isSitemap: true, depth, rank: 1 });
  }
  return found;
}

function* locations(text: string): Generator<URL> {
  let entries = 0;
  for (const [, written = ""] of text.matchAll(LOCATION)) {
    if (++entries > MAX_ENTRIES) return;
    const trimmed = written.trim().replace(/\s*\]\]>$/, "");
    if (trimmed.length > MAX_URL_LENGTH) continue;
    const location = trimmed.replace(/&(amp|lt|gt|quot|apos);/g, (_, name: string) => ENTITIES[name] ?? "");
    const url = resolvedUrl(location);
    if (url !== null) yield url;
  }
}
