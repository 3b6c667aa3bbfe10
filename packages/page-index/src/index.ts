export type { IndexedDomain } from "./crawl/domain-run.ts";
export type { IndexRunOptions, PageIndex, PageIndexOptions } from "./crawl/page-index.ts";
export { createPageIndex } from "./crawl/page-index.ts";
export { decodePage } from "./extract/decode-page.ts";
export type { FoundContact } from "./extract/found-contact.ts";
export type { PageContent } from "./extract/read-page.ts";
export { readPage } from "./extract/read-page.ts";
