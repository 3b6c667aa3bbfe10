import type { AddressedRendition, AddressOptions } from "../src/images/renditions/write-address.ts";
import { created, type ImageSite, type SiteOptions } from "./image-site.ts";
import { createLifeSite } from "./life-site.ts";

const PRESETS = {
  thumb: { resize: "32x32" },
  "page-2": { page: 2 },
  small: { resize: "20x", convert: "low" },
} as const;

/** A site with one image, and functions that request and sign its addresses. */
export async function imageOn(options: SiteOptions = {}) {
  const site = createLifeSite({ presets: PRESETS, ...options });
  const { id } = created(await site.create());
  return { ...looking(site, id), site, id };
}

/** Functions that request and sign the addresses of an image. */
export function looking(site: ImageSite, id: string) {
  const get = (address: string, headers: Record<string, string> = {}, method = "GET") => {
    const [path = "", search = ""] = address.split("?");
    return site.send(method, path, { search, headers });
  };
  const sign = (rendition: AddressedRendition, options: AddressOptions = {}) =>
    site.images.address(id, rendition, { signed: true, ...options });
  return { get, sign, at: (rest: string) => `/api/images/${id}.${rest}` };
}
