import { mkdtempSync } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEachFile } from "../../../test/support/hooks.ts";
import type { CallOptions } from "./calls.ts";
import type { Answer, ImageSite, SiteOptions } from "./image-site.ts";
import { createLifeSite } from "./life-site.ts";

export const VERSION = { "tus-resumable": "1.0.0" };

/** A service that clients send pieces to. */
export interface ResumeSite extends ImageSite {
  /** Directory of the unfinished uploads. */
  directory: string;
  /** Begins an upload. */
  begin(size: number, metadata?: Record<string, string>, options?: CallOptions): Promise<Answer>;
  /** Sends a piece, and returns the reply. */
  piece(path: string, offset: number, bytes: Uint8Array, options?: CallOptions): Promise<Answer>;
  head(path: string, options?: CallOptions): Promise<Answer>;
  /** The files of unfinished uploads. */
  files(): Promise<string[]>;
  anotherNode(options?: SiteOptions): ResumeSite;
}

export function createResumeSite(options: SiteOptions = {}): ResumeSite {
  const directory = mkdtempSync(join(tmpdir(), "outrigger-resume-"));
  afterEachFile(() => rm(directory, { recursive: true, force: true }));
  return resumeSite(createLifeSite({ resumable: { directory }, ...options }), directory);
}

function resumeSite(site: ImageSite, directory: string): ResumeSite {
  const send: ImageSite["send"] = (method, path, { headers, ...options } = {}) =>
    site.send(method, path, { headers: { ...VERSION, ...headers }, ...options });
  return {
    ...site,
    directory,
    send,
    begin(size, metadata = { filename: "dusk.png", filetype: "image/png" }, { headers, ...options } = {}) {
      const pairs = Object.entries(metadata).map(
        ([name, value]) => `${name} ${Buffer.from(value).toString("base64")}`,
      );
      const given = pairs.length === 0 ? {} : { "upload-metadata": pairs.join(",") };
      return send("POST", "/api/uploads", {
        headers: { "upload-length": String(size), ...given, ...headers },
        ...options,
      });
    },
    piece: (path, offset, bytes, { headers, ...options } = {}) =>
      send("PATCH", path, {
        headers: {
          "upload-offset": String(offset),
          "content-type": "application/offset+octet-stream",
          "content-length": String(bytes.length),
          ...headers,
        },
        pieces: [bytes],
        ...options,
      }),
    head: (path, options) => send("HEAD", path, options),
    files: () => readdir(directory),
    anotherNode: (more = {}) => resumeSite(site.another(more), directory),
  };
}

/** Path of the upload in the reply to its creation. */
export function uploadPath({ headers }: Answer): string {
  return new URL(String(headers.Location)).pathname;
}
