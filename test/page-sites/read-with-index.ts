import { readPage } from "../../packages/page-index/src/extract/read-page.ts";
import type { Reader } from "./score.ts";

/** The extractor of the page index. */
export function indexReader(): Reader {
  return ({ html, url }, { domain }) => readPage(html, { url: new URL(url), domain });
}
