import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { createFsBlobStore, createImages, type Images, type ImagesOptions } from "@outrigger/core";
import type { Renderer } from "@outrigger/core/images";
import { createRenderer } from "@outrigger/imaging";
import { createPages, type PagesOptions } from "@outrigger/web";
import { expect } from "vitest";
import { describedReplies } from "./described-replies.ts";
import { afterEachFile } from "./hooks.ts";
import { type HostName, startHost } from "./hosts.ts";
import type { Host } from "./listen.ts";

/** No limit of requests. Unlike `false`, it leaves the bounds of a client in the line for the renderer. */
export const NO_RATE_LIMITS = { creates: false, reads: false, edits: false, pinFailures: false } as const;

let renderer: Renderer | undefined;
afterEachFile(async () => {
  await renderer?.close();
  renderer = undefined;
});

/** One renderer for the sites of a test file, since its processes take longer to start than most tests to run. */
export function sharedRenderer(): Renderer {
  renderer ??= createRenderer({ timeoutMs: 60_000 });
  return { ...renderer, close: async () => {} };
}

/** The image service on a directory of its own, in a host. */
export interface Site extends Host {
  images: Images;
  directory: string;
  /** Errors reported to onError. */
  errors: unknown[];
}

export interface SiteOptions extends Partial<Omit<ImagesOptions, "pages">> {
  /** The options of the service's pages; `false`: it has none. @default {} */
  pages?: PagesOptions | false;
  host?: HostName;
  mountPath?: string;
}

/**
 * Limits and budgets of clients are off unless given: a test is one very busy client. `asyncAfterMs` is off too:
 * no upload answers 202 because of the load of this machine. Every reply must be as the OpenAPI document describes it.
 */
export async function startSite(siteOptions: SiteOptions = {}): Promise<Site> {
  const { host = "Express 5", mountPath = "/img", pages = {}, ...options } = siteOptions;
  const directory = await mkdtemp(join(tmpdir(), "outrigger-site-"));
  const errors: unknown[] = [];
  const images = createImages({
    storage: createFsBlobStore({ directory }),
    renderer: sharedRenderer(),
    ...(pages ? { pages: createPages(pages) } : {}),
    rateLimits: false,
    renderBudget: false,
    asyncAfterMs: false,
    onError: (error) => errors.push(error),
    ...options,
  });
  const running = await startHost(host, describedReplies(images), mountPath);
  return {
    ...running,
    images,
    directory,
    errors,
    async close() {
      await running.close();
      await images.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** What a create returned. */
export interface Created {
  id: string;
  url: string;
  editUrl: string;
  pin: string;
  status: string;
  [field: string]: unknown;
}

/** Uploads a file as a well-behaved client does. */
export async function upload(
  site: Pick<Host, "base">,
  bytes: Buffer,
  type: string,
  fields: { fileName?: string; name?: string; expiresAt?: string } = {},
): Promise<Created> {
  const response = await postImage(site, bytes, type, fields);
  if (response.status === 202) {
    const image = (await response.json()) as Created;
    const isPending = async () => (await fetch(`${site.base}/api/images/${image.id}.json`)).status === 202;
    while (await isPending()) await delay(100);
    return image;
  }
  if (response.status !== 201) throw new Error(`${response.status}: ${await response.text()}`);
  return (await response.json()) as Created;
}

export function postImage(
  site: Pick<Host, "base">,
  bytes: Buffer,
  type: string,
  { fileName = "picture", ...fields }: { fileName?: string; name?: string; expiresAt?: string } = {},
  suffix = "json",
): Promise<Response> {
  const form = new FormData();
  for (const [field, value] of Object.entries(fields)) form.set(field, value);
  form.set("imagedata", new Blob([new Uint8Array(bytes)], { type }), fileName);
  return fetch(`${site.base}/api/images.${suffix}`, {
    method: "POST",
    body: form,
    headers: { "User-Agent": "OutriggerTest/1.0" },
  });
}

export function addressOf(site: Pick<Host, "base">, id: string, suffix: string): string {
  return `${site.base}/api/images/${id}.${suffix}`;
}

/** A response and its body. */
export async function bytesOf(
  url: string,
  init?: RequestInit,
): Promise<{ response: Response; bytes: Buffer }> {
  const response = await fetch(url, init);
  return { response, bytes: Buffer.from(await response.arrayBuffer()) };
}

/** Runs a test against a site of its own, which it closes. The test fails for every error that the site reported. */
export async function withSite(options: SiteOptions, run: (site: Site) => Promise<void>): Promise<void> {
  const site = await startSite(options);
  try {
    await run(site);
    expect(site.errors).toEqual([]);
  } finally {
    await site.close();
  }
}
