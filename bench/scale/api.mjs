import { multipartOf } from "../src/multipart.mjs";

/** @import { Node } from "./node-process.mjs" */

const AGENT = { "User-Agent": "OutriggerBench/1.0" };

/**
 * @param {Node} node
 * @param {{ bytes: Buffer, type: string }} picture
 * @param {Date} [expiresAt]
 * @returns {Promise<{ id: string, pin: string }>}
 */
export async function uploadTo(node, picture, expiresAt) {
  const { body, contentType } = multipartOf(picture);
  const query = expiresAt === undefined ? "" : `?expiresAt=${expiresAt.toISOString()}`;
  const response = await fetch(`${node.origin}/api/images.json${query}`, {
    method: "POST",
    headers: { ...AGENT, "Content-Type": contentType },
    body: new Uint8Array(body),
  });
  const text = await response.text();
  if (response.status !== 201) throw new Error(`The upload was answered with ${response.status}: ${text}`);
  return JSON.parse(text);
}

/**
 * @param {Node} node
 * @param {string} path
 * @param {{ method?: string, pin?: string, body?: object, status?: number }} [options] `status`: the required one. Default: 200.
 */
export async function ask(node, path, { method = "GET", pin, body, status = 200 } = {}) {
  const response = await fetch(`${node.origin}${path}`, {
    method,
    headers: {
      ...AGENT,
      ...(pin === undefined ? {} : { "X-Service-Image-Pin": pin }),
      ...(body === undefined ? {} : { "Content-Type": "application/json" }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const bytes = Buffer.from(await response.arrayBuffer());
  if (response.status !== status)
    throw new Error(`${method} ${path}: ${response.status}, not ${status}: ${bytes}`);
  return bytes;
}

/** @param {string} id @param {string} [query] @param {string} [suffix] */
export function pathOf(id, query = "", suffix = "jpg") {
  return `/api/images/${id}.${suffix}${query}`;
}
