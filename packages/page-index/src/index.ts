export { decodePage } from "./extract/decode-page.ts";
export type { FoundContact, PageContent } from "./extract/read-page.ts";
export { readPage } from "./extract/read-page.ts";
