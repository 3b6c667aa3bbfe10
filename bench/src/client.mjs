import { Agent, request } from "node:http";
import { buffer } from "node:stream/consumers";
import { multipartOf } from "./multipart.mjs";

/** @import { IncomingHttpHeaders, IncomingMessage, RequestOptions } from "node:http" */
/** @import { Picture } from "./corpus.mjs" */
/** @import { JobRequest } from "./load.mjs" */
/** @import { Multipart } from "./multipart.mjs" */

// To some servers, a connection closed with the last byte looks like an aborted request.
const shared = new Agent({ keepAlive: true });

/** @typedef {{ origin: string }} Address Of a server. */
/** @typedef {{ status: number, headers: IncomingHttpHeaders, body: Buffer }} Answer */

/**
 * One request. Not by `fetch`, which adds `Cache-Control: no-cache` to a conditional request.
 * @template Result
 * @param {string} url
 * @param {RequestOptions & { body?: Buffer | undefined }} options
 * @param {(response: IncomingMessage) => Promise<Result>} read
 * @returns {Promise<Result>}
 */
export function exchange(url, options, read) {
  const { body, agent = shared, ...others } = options;
  const headers = { "User-Agent": "OutriggerBench/1.0", ...options.headers };
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { ...others, headers, agent }, (response) => {
      read(response).then(resolve, reject);
    });
    outgoing.on("error", reject);
    outgoing.end(body);
  });
}

/** @param {IncomingMessage} response @returns {Promise<Answer>} */
async function whole(response) {
  return { status: response.statusCode ?? 0, headers: response.headers, body: await buffer(response) };
}

/**
 * @param {Address} server
 * @param {string} path
 * @param {Record<string, string>} [headers]
 */
export function get(server, path, headers = {}) {
  return exchange(server.origin + path, { headers }, whole);
}

/**
 * Uploads to Outrigger, and waits until the image is ready.
 * @param {Address} server
 * @param {Picture} picture
 * @returns {Promise<string>} The image's ID.
 */
export async function upload(server, picture) {
  const { status, id, text } = await post(server, await multipartOf(picture));
  if (id === null) throw new Error(`The upload was answered with ${status}: ${text}`);
  if (!(await isReady(server, id))) throw new Error(`Image ${id} was refused after its upload`);
  return id;
}

/**
 * Posts an upload to Outrigger.
 * @param {Address} server
 * @param {Multipart} multipart
 * @returns {Promise<{ status: number, id: string | null, text: string }>} `id`: the image's, if it was accepted.
 */
export async function post({ origin }, { body, contentType }) {
  const headers = { "Content-Type": contentType, "Content-Length": String(body.length) };
  const url = `${origin}/img/api/images.json`;
  const { status, ...answer } = await exchange(url, { method: "POST", headers, body }, whole);
  const text = answer.body.toString();
  return { status, text, id: status === 201 || status === 202 ? JSON.parse(text).id : null };
}

const POLL_MS = 100;

/**
 * Waits while an image is being processed.
 * @param {Address} server
 * @param {string} id
 * @param {number} [polls] At most so many. Default: no limit.
 * @returns {Promise<boolean>} Whether it can be served now; otherwise it was refused, or is still being processed.
 */
export async function isReady(server, id, polls = Number.POSITIVE_INFINITY) {
  for (let poll = 0; poll < polls; poll++) {
    const { status } = await get(server, addressOf(id, "", "json"));
    if (status !== 202) return status === 200;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  return false;
}

/** @param {string} id */
export function addressOf(id, query = "", suffix = "jpg") {
  return `/img/api/images/${id}.${suffix}${query}`;
}

/**
 * @param {Picture} picture
 * @param {string} path
 * @returns {JobRequest}
 */
export function uploadRequest({ contentType, bodyFile }, path) {
  return { method: "POST", path, headers: { "Content-Type": contentType }, bodyFile, status: 201 };
}
