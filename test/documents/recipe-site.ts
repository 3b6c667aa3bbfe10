import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as core from "@outrigger/core";
import { createPages } from "@outrigger/web";
import { onTestFinished } from "vitest";
import { serveHost } from "../support/listen.ts";
import { pngPhoto } from "../support/pictures.ts";
import { sharedRenderer } from "../support/service.ts";
import { run } from "./recipe-blocks.ts";
import type { Host } from "./recipe-hosts.ts";

export const picture = await pngPhoto(40, 30);

export const newOptions = () => ({
  storage: core.createMemoryBlobStore(),
  renderer: sharedRenderer(),
  pages: createPages(),
  secret: randomBytes(32).toString("hex"),
  // A busy machine would answer 202.
  asyncAfterMs: 30_000,
});

export function closing<T extends { close(): Promise<unknown> }>(service: T): T {
  onTestFinished(async () => void (await service.close()));
  return service;
}

export const newImages = () => closing(core.createImages(newOptions()));

/** The images that a block creates. */
export async function imagesOf(code: string, given: Record<string, unknown> = {}): Promise<core.Images> {
  const { createImages } = core;
  const images = await run(code, { createImages, options: newOptions(), ...given }, "images");
  return closing(images as core.Images); // As every block names them.
}

export async function directory(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), "outrigger-recipes-"));
  onTestFinished(() => rm(path, { recursive: true }));
  return path;
}

export async function serve(host: Host): Promise<string> {
  const { origin, close } = await serveHost(host.listener());
  onTestFinished(close);
  return origin;
}

export const as = (user: unknown): Record<string, string> =>
  user === null ? {} : { "x-user": JSON.stringify(user) };

export const form = (body = picture) => {
  const fields = new FormData();
  fields.set("imagedata", new File([new Uint8Array(body)], "picture.png"));
  return { method: "POST", body: fields };
};

export async function upload(base: string, user: unknown = null, body = picture) {
  const response = await fetch(`${base}/api/images.json`, { ...form(body), headers: as(user) });
  return { status: response.status, text: await response.text() };
}

/** An address that is relative to the mount point. */
export const below = (base: string, url: string) => `${base}/${url.replace(/^\//, "")}`;

export async function statusOf(url: string, user: unknown = null, init: RequestInit = {}): Promise<number> {
  const response = await fetch(url, { ...init, headers: { ...as(user), ...Object(init.headers) } });
  await response.arrayBuffer();
  return response.status;
}
