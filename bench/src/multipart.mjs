import { createHash } from "node:crypto";

/**
 * The body of an upload.
 * @typedef {object} Multipart
 * @property {Buffer} body
 * @property {string} contentType
 */

/**
 * @param {{ bytes: Buffer, type: string }} file
 * @returns {Multipart}
 */
export function multipartOf({ bytes, type }) {
  // No file contains its own digest.
  const boundary = `----bench${createHash("sha256").update(bytes).digest("hex").slice(0, 24)}`;
  const head =
    `--${boundary}\r\nContent-Disposition: form-data; name="imagedata"; filename="picture"\r\n` +
    `Content-Type: ${type}\r\n\r\n`;
  return {
    body: Buffer.concat([Buffer.from(head), bytes, Buffer.from(`\r\n--${boundary}--\r\n`)]),
    contentType: `multipart/form-data; boundary=${boundary}`,
  };
}
