import { expect } from "vitest";
import type { TicketOptions } from "../src/images/library/upload-tickets.ts";
import { type CallOptions, PNG } from "./calls.ts";
import { type Answer, createSite, type ImageSite, keysOf, type SiteOptions } from "./image-site.ts";
import { willingRenderer } from "./life-site.ts";

export const OTHER_FILE = Buffer.concat([PNG, Buffer.from("another picture")]);

/** A site that permits nothing without a ticket. */
export function createTicketSite(options: SiteOptions = {}): ImageSite {
  return createSite({ renderer: willingRenderer(), authorize: () => false, ...options });
}

/** The query of an upload with a new ticket. */
export async function ticketQuery(site: ImageSite, terms?: TicketOptions): Promise<string> {
  const { url } = await site.images.ticket(terms);
  return url.slice(url.indexOf("?") + 1);
}

/** Uploads with a new ticket. */
export async function createByTicket(
  site: ImageSite,
  terms?: TicketOptions,
  options: CallOptions = {},
): Promise<Answer> {
  return site.create({ ...options, search: await ticketQuery(site, terms) });
}

/** How many images are stored. */
export async function countImages(site: ImageSite): Promise<number> {
  return (await keysOf(site.store)).filter((key) => key.endsWith("/record")).length;
}

const SECRETS = ["X-Service-Image-Pin", "X-Service-Image-Edit-Url"];

export function expectNoPin({ json, headers }: Answer): void {
  expect(json).not.toHaveProperty("pin");
  expect(json).not.toHaveProperty("editUrl");
  expect(Object.keys(headers).filter((name) => SECRETS.includes(name))).toEqual([]);
  expect(JSON.stringify([json, headers])).not.toMatch(/edit-form|\/edit/);
}
