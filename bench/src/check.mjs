import sharp from "sharp";
import { get } from "./client.mjs";

/** @import { ServerProcess } from "./server-process.mjs" */

/**
 * Checks of the replies that are measured. A benchmark of wrong replies is worth nothing.
 * @typedef {object} Checks
 * @property {number} count Answers that were right.
 * @property {(server: ServerProcess, path: string, bytes: Buffer) => Promise<void>} bytes 200 with exactly these.
 * @property {(server: ServerProcess, path: string) => Promise<Record<string, string>>} notModified 304 without a body
 *   for the entity tag that a 200 carries, or its date where it has no tag; resolves to the condition's header.
 * @property {(server: ServerProcess, path: string, width: number) => Promise<void>} resized 200 with a JPEG so wide.
 * @property {(label: string, bytes: Buffer, expected: Buffer) => Promise<void>} alike Two pictures of one size.
 * @property {(label: string, isRight: boolean) => void} that
 */

/** @returns {Checks} */
export function createChecks() {
  /** @type {Checks} */
  const checks = {
    count: 0,
    that(label, isRight) {
      if (!isRight) throw new Error(`Wrong answer: ${label}`);
      checks.count++;
    },
    async bytes(server, path, bytes) {
      const { status, body } = await get(server, path);
      checks.that(
        `${server.kind} ${path}: ${status}, ${body.length} bytes`,
        status === 200 && body.equals(bytes),
      );
    },
    async notModified(server, path) {
      const { headers } = await get(server, path);
      const { etag, "last-modified": date = "" } = headers;
      /** @type {Record<string, string>} */
      const condition = etag === undefined ? { "If-Modified-Since": date } : { "If-None-Match": etag };
      const { status, body } = await get(server, path, condition);
      checks.that(
        `${server.kind} ${path} for ${etag ?? date}: ${status}`,
        status === 304 && body.length === 0,
      );
      return condition;
    },
    async resized(server, path, width) {
      const { status, body } = await get(server, path);
      const found = status === 200 ? await sharp(body).metadata() : null;
      checks.that(
        `${server.kind} ${path}: ${status}, ${found?.format} ${found?.width}`,
        found?.format === "jpeg" && found.width === width,
      );
    },
    async alike(label, bytes, expected) {
      const [found, wanted] = await Promise.all([bytes, expected].map((each) => sharp(each).metadata()));
      checks.that(
        `${label}: ${found?.width} × ${found?.height}, not ${wanted?.width} × ${wanted?.height}`,
        found?.width === wanted?.width && found?.height === wanted?.height,
      );
    },
  };
  return checks;
}
