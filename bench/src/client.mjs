import { Agent, request } from "node:http";
import { buffer } from "node:stream/consumers";

/** @import { IncomingHttpHeaders } from "node:http" */
/** @import { Picture } from "./corpus.mjs" */
/** @import { JobRequest } from "./load.mjs" */
/** @import { ServerProcess } from "./server-process.mjs" */

// A connection closed with the last byte looks to some servers as if the client had left early.
const agent = new Agent({ keepAlive: true });

/**
 * @typedef {object} Answer
 * @property {number} status
 * @property {IncomingHttpHeaders} headers
 * @property {Buffer} body
 */

/**
 * One request outside the measured ones. Not by `fetch`, which adds `Cache-Control: no-cache` to a conditional request.
 * @param {ServerProcess} server
 * @param {string} path
 * @param {Record<string, string>} [headers]
 * @returns {Promise<Answer>}
 */
export function get(server, path, headers = {}) {
  return new Promise((resolve, reject) => {
    request(server.origin + path, { headers, agent }, (response) => {
      buffer(response).then(
        (body) => resolve({ status: response.statusCode ?? 0, headers: response.headers, body }),
        reject,
      );
    })
      .on("error", reject)
      .end();
  });
}

/**
 * Uploads to Outrigger.
 * @param {ServerProcess} server
 * @param {Picture} picture
 * @returns {Promise<string>} The image's ID.
 */
export async function upload(server, picture) {
  const form = new FormData();
  form.set("imagedata", new Blob([new Uint8Array(picture.bytes)], { type: "image/jpeg" }), "picture.jpg");
  const response = await fetch(`${server.origin}/img/api/images.json`, {
    method: "POST",
    body: form,
    headers: { "User-Agent": "OutriggerBench/1.0" },
  });
  const text = await response.text();
  if (response.status !== 201) throw new Error(`The upload was answered with ${response.status}: ${text}`);
  return JSON.parse(text).id;
}

/**
 * @param {string} id
 * @param {string} [query]
 */
export function addressOf(id, query = "") {
  return `/img/api/images/${id}.jpg${query}`;
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
