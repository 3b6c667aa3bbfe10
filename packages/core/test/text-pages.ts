import type { Page, Pages } from "../src/contracts/pages.ts";

/** Pages with only the texts of the views: the service's tests check nothing else. */
export const textPages: Pages = {
  viewer: ({ name, page }) => pageOf(page === 1 ? `viewer of ${name}` : `viewer of ${name}, page ${page}`),
  edit: ({ image, notice, problem }) =>
    pageOf(`edit ${image.name}, ${Object.keys(image.links).length} links. ${notice ?? ""} ${problem ?? ""}`),
  unlock: ({ action, problem }) => pageOf(`unlock ${action} ${problem ?? ""}`),
  problem: ({ status, title, detail }) => pageOf(`${status} ${title}: ${detail}`),
  upload: ({ baseUrl, types, maxUploadBytes, defaultLifetimeMs }) =>
    pageOf(`upload at ${baseUrl}: ${types.join(" ")}, ${maxUploadBytes} bytes, ${defaultLifetimeMs} ms`),
  asset: () => undefined,
};

function pageOf(html: string): Page {
  return { html, contentSecurityPolicy: "default-src 'none'" };
}
