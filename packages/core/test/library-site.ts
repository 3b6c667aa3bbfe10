import { readdir } from "node:fs/promises";
import { Readable } from "node:stream";
import { acceptAll, createFakeRenderer, type FakeRenderer } from "@outrigger/testing";
import type { RenditionSpec, WorkOptions } from "../src/contracts/renderer.ts";
import type { FsBlobStore } from "../src/stores/fs/fs-blob-store.ts";
import { PNG } from "./calls.ts";
import type { ImageSite, SiteOptions } from "./image-site.ts";
import { createLifeSite } from "./life-site.ts";

/** A renderer whose renditions contain their specs as JSON. */
export interface NamingRenderer extends FakeRenderer {
  /** Called before each render. */
  onRender: (options: WorkOptions) => unknown;
  /** Number of renders. */
  renders: number;
}

export function namingRenderer(answer: FakeRenderer["answer"] = acceptAll): NamingRenderer {
  const renderer: NamingRenderer = Object.assign(createFakeRenderer(answer), {
    renders: 0,
    onRender: () => undefined,
    canRender: () => true,
    async render(_source: unknown, _type: unknown, spec: RenditionSpec, options: WorkOptions = {}) {
      await renderer.onRender(options);
      renderer.renders++;
      return { bytes: Buffer.from(JSON.stringify(spec)) };
    },
  });
  return renderer;
}

export function createLibrarySite(options: SiteOptions = {}): ImageSite {
  return createLifeSite({ renderer: namingRenderer(), ...options });
}

/** Names of the files in a store's spool. */
export function spooled({ spoolDirectory }: FsBlobStore): Promise<string[]> {
  return readdir(spoolDirectory);
}

/** A stream that stalls after its first bytes. */
export function stalledSource(): Readable {
  const source = new Readable({ read() {} });
  source.push(PNG);
  return source;
}
