import { decodePage } from "../../packages/page-index/src/extract/decode-page.ts";
import { readPage } from "../../packages/page-index/src/extract/read-page.ts";
import { encodePage } from "./encode-page.ts";
import type { Reader } from "./score.ts";

/** The extractor of the page index, from the bytes of a page, without a charset in its header. */
export function indexReader(): Reader {
  return (page, { domain }) =>
    readPage(decodePage(encodePage(page), "text/html"), { url: new URL(page.url), domain });
}
