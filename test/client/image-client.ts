import assert from "node:assert/strict";
import { createImagesClient, OutriggerError } from "@outrigger/client";
import { afterAll, afterEach, beforeAll, beforeEach, expect } from "vitest";
import { jpegPhoto } from "../support/pictures.ts";
import { type Site, type SiteOptions, startSite } from "../support/service.ts";
import { type Front, startFront } from "./front.ts";

/** An ID that no image has. */
export const NO_IMAGE = "AAAAAAAAAAAAAAAAAAAAAA";
/** A well-formed PIN that no image has. */
export const NO_PIN = "0000000000000000";
export const photo = await jpegPhoto(900, 700);

/** The error that a call rejects with. Any error that is no `OutriggerError` fails the test. */
export async function refusalOf(call: Promise<unknown>): Promise<OutriggerError> {
  const error = await call.then(
    (value) => assert.fail(`It resolved with ${JSON.stringify(value)}`),
    (error: unknown) => error,
  );
  if (error instanceof OutriggerError) return error;
  throw error;
}

export async function idsIn({ images }: Site): Promise<string[]> {
  const ids: string[] = [];
  for await (const { id } of images.list()) ids.push(id);
  return ids;
}

/** A site behind a proxy, and clients that send through the proxy. */
export interface FrontedSite {
  readonly site: Site;
  readonly front: Front;
  client(options?: Partial<Parameters<typeof createImagesClient>[0]>): ReturnType<typeof createImagesClient>;
}

/** One site with one proxy for all tests of a file. Every test starts with an empty list of requests. */
export function frontForAll(options: SiteOptions = {}): FrontedSite {
  let site: Site;
  let front: Front;
  beforeAll(async () => {
    site = await startSite(options);
    front = await startFront(site);
  });
  beforeEach(() => {
    front.requests.length = 0;
  });
  afterEach(() => expect(site.errors).toEqual([]));
  afterAll(async () => {
    await front.close();
    await site.close();
  });
  return {
    get site() {
      return site;
    },
    get front() {
      return front;
    },
    client: (options = {}) => createImagesClient({ baseUrl: front.base, ...options }),
  };
}
