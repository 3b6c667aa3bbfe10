import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { acceptAll, createFakeRenderer, type FakeRenderer } from "@outrigger/testing";
import { afterEachFile } from "../../../test/support/hooks.ts";
import { type BlobStore, isLocalStore } from "../src/contracts/blob-store.ts";
import { type DueEntry, hasDueIndex } from "../src/contracts/due-index.ts";
import type { Pages } from "../src/contracts/pages.ts";
import { parseDueName } from "../src/stores/due-list.ts";
import { type FsBlobStore, openFsBlobStore } from "../src/stores/fs/fs-blob-store.ts";
import { type FileSystem, nodeFiles } from "../src/stores/fs/fs-files.ts";
import { createMemoryBlobStore } from "../src/stores/memory/memory-blob-store.ts";
import { createSite, type ImageSite, type SiteOptions } from "./image-site.ts";
import { textPages } from "./text-pages.ts";

export const SECOND = 1000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

export const FORMATS = ["png", "jpg", "jpeg", "gif", "svg", "psd", "pdf", "webp", "avif"];
export const BROWSER = { accept: "text/html,application/xhtml+xml,image/avif,*/*;q=0.8" };

/** A renderer that accepts every file at once and renders every format. */
export function willingRenderer(): FakeRenderer {
  return Object.assign(createFakeRenderer(acceptAll), {
    canRender: () => true,
    render: async () => ({ bytes: Buffer.from("a rendition") }),
  });
}

const pages: Pages = {
  ...textPages,
  edit: ({ image, pin }) => ({
    html: `edit ${image.name} with ${pin}`,
    contentSecurityPolicy: "default-src 'none'",
  }),
  problem: ({ status, detail }) => ({
    html: `problem ${status}: ${detail}`,
    contentSecurityPolicy: "default-src 'none'",
  }),
};

/** A service with pages that serves every format; its sweep runs when a test says. */
export function createLifeSite(options: SiteOptions = {}): ImageSite {
  return createSite({
    renderer: willingRenderer(),
    sweepEveryMs: false,
    asyncAfterMs: false,
    pages,
    ...options,
  });
}

/** Another process on the store of `site`; on a disk it opens its own store object. */
export function anotherProcess(site: ImageSite, options: SiteOptions = {}): ImageSite {
  return site.another({ renderer: willingRenderer(), store: seenAgain(site.store), ...options });
}

export const STORES = { memory: () => createMemoryBlobStore(), disk: () => createDiskStore() };

const closing: BlobStore[] = [];
const directories = new Map<BlobStore, string>();

afterEachFile(async () => {
  for (const store of closing.splice(0)) await store.close();
  for (const directory of new Set(directories.values())) await rm(directory, { recursive: true });
  directories.clear();
});

/** A store on a directory, which is deleted after all tests. */
export function createDiskStore(
  directory = mkdtempSync(join(tmpdir(), "outrigger-life-")),
  files: FileSystem = nodeFiles,
): FsBlobStore {
  const store = openFsBlobStore({ directory }, files);
  closing.push(store);
  directories.set(store, directory);
  return store;
}

/** A store that does not wait for the disk. */
export function createHastyDiskStore(): FsBlobStore {
  return createDiskStore(undefined, { ...nodeFiles, sync: async () => {}, syncDirectory: async () => {} });
}

function seenAgain(store: BlobStore): BlobStore {
  return isLocalStore(store) ? createDiskStore(directories.get(store)) : store;
}

/** The blobs and due entries of an image in a store: a deletion must leave none. */
export async function tracesOf(store: BlobStore, id: string): Promise<string[]> {
  const { keys } = await store.list("");
  const blobs = keys.filter((key) => key.startsWith(`${id}/`));
  return [...blobs.sort(), ...(await entriesOf(store)).filter((entry) => entry.id === id).map(() => "entry")];
}

/** All entries of a due list. */
export async function entriesOf(store: BlobStore, list = "images"): Promise<DueEntry[]> {
  if (hasDueIndex(store)) return store.listDue(list, Number.POSITIVE_INFINITY, 1000);
  const prefix = `due-${list}/`;
  const { keys } = await store.list(prefix);
  return keys.map((key) => parseDueName(key.slice(prefix.length))).filter((entry) => entry !== null);
}

/** A request for a representation of an image. */
export interface ReadRequest {
  method: "GET" | "HEAD";
  path: string;
  headers: Record<string, string>;
}

/** Every kind of request that can return an image or facts about it. */
export function readsOf(id: string): ReadRequest[] {
  const files = ["json", ...FORMATS].map((suffix) => `/api/images/${id}.${suffix}`);
  const paths = [...files, `/${id}`, `/${id}/view`];
  const kinds = [{}, { range: "bytes=0-0" }, { "if-none-match": "*" }, BROWSER];
  return (["GET", "HEAD"] as const).flatMap((method) =>
    paths.flatMap((path) => kinds.map((headers) => ({ method, path, headers }))),
  );
}

/** The distinct statuses of the replies to these requests. */
export async function statusesOf(site: ImageSite, requests: readonly ReadRequest[]): Promise<number[]> {
  const statuses = new Set<number>();
  for (const { method, path, headers } of requests) {
    statuses.add((await site.send(method, path, { headers })).status);
  }
  return [...statuses].sort((a, b) => a - b);
}
