import { Agent, request } from "node:http";
import { buffer } from "node:stream/consumers";
import { multipartOf } from "./multipart.mjs";

/** @import { IncomingHttpHeaders } from "node:http" */
/** @import { Picture } from "./corpus.mjs" */
/** @import { JobRequest } from "./load.mjs" */
/** @import { Multipart } from "./multipart.mjs" */

// To some servers, a connection closed with the last byte looks like an aborted request.
const agent = new Agent({ keepAlive: true });

/** @typedef {{ origin: string }} Address Of a server. */

/**
 * @typedef {object} Answer
 * @property {number} status
 * @property {IncomingHttpHeaders} headers
 * @property {Buffer} body
 */

/**
 * One request outside the measured ones. Not by `fetch`, which adds `Cache-Control: no-cache` to a conditional request.
 * @param {Address} server
 * @param {string} path
 * @param {Record<string, string>} [headers]
 * @returns {Promise<Answer>}
 */
export function get(server, path, headers = {}) {
  return send(server, path, { headers });
}

/**
 * @param {Address} server
 * @param {string} path
 * @param {{ method?: string, headers: Record<string, string>, body?: Buffer }} options
 * @returns {Promise<Answer>}
 */
function send(server, path, options) {
  const { body: sent, ...others } = options;
  return new Promise((resolve, reject) => {
    const outgoing = request(server.origin + path, { ...others, agent }, (response) => {
      buffer(response).then(
        (body) => resolve({ status: response.statusCode ?? 0, headers: response.headers, body }),
        reject,
      );
    });
    outgoing.on("error", (error) => {
      // The server closed an idle connection at the moment of its next use.
      const isStale = outgoing.reusedSocket && "code" in error && error.code === "ECONNRESET";
      if (isStale) resolve(send(server, path, options));
      else reject(error);
    });
    outgoing.end(sent);
  });
}

/**
 * Uploads to Outrigger, and waits until the image is ready.
 * @param {Address} server
 * @param {Picture} picture
 * @returns {Promise<string>} The image's ID.
 */
export async function upload(server, picture) {
  const { status, id, text } = await post(server, multipartOf(picture));
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
export async function post(server, { body, contentType }) {
  const headers = {
    "User-Agent": "OutriggerBench/1.0",
    "Content-Type": contentType,
    "Content-Length": String(body.length),
  };
  const answer = await send(server, "/img/api/images.json", { method: "POST", headers, body });
  const text = answer.body.toString();
  const { status } = answer;
  return { status, text, id: status === 201 || status === 202 ? JSON.parse(text).id : null };
}

const POLL_MS = 100;

/**
 * Waits while an image is being processed.
 * @param {Address} server
 * @param {string} id
 * @returns {Promise<boolean>} Whether it can be served now; otherwise it was refused.
 */
export async function isReady(server, id) {
  for (;;) {
    const { status } = await get(server, addressOf(id, "", "json"));
    if (status !== 202) return status === 200;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

/**
 * @param {string} id
 * @param {string} [query]
 * @param {string} [suffix]
 */
export function addressOf(id, query = "", suffix = "jpg") {
  return `/img/api/images/${id}.${suffix}${query}`;
}

/**
 * @param {Picture} picture
 * @param {string} path
 * @returns {JobRequest}
 */
export function uploadRequest(picture, path) {
  return {
    method: "POST",
    path,
    headers: { "Content-Type": picture.contentType },
    bodyFile: picture.bodyFile,
    status: 201,
  };
}
