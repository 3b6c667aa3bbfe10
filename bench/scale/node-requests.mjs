import { ask, pathOf, uploadTo } from "./api.mjs";

/** @import { Bench } from "../src/bench.mjs" */
/** @import { JobRequest } from "../src/load.mjs" */
/** @import { Node } from "./node-process.mjs" */

const UPLOAD_BYTES = 200_000;
/** Limit of stored sizes per image. */
const MAX_RENDITIONS = 200;
const FIRST_WIDTH = 600;

/**
 * The requests to send when `count` of a kind are due: as many, or fewer that are repeated in turn.
 * @typedef {Record<"hot" | "stored" | "cold" | "upload", (count: number) => JobRequest[]>} Requests
 */

/**
 * Uploads the images to request.
 * @param {Bench} bench
 * @param {Node[]} nodes All of one storage.
 * @param {number} coldRenders How many there will be altogether.
 * @returns {Promise<Requests>}
 */
export async function prepareRequests(bench, nodes, coldRenders) {
  const [first] = nodes;
  if (first === undefined) throw new Error("There is no node");
  const photo = await bench.corpus.photo();
  const { id } = await uploadTo(first, photo);
  const hot = await hotPath(first, id);
  for (const node of nodes) {
    const { length } = await ask(node, hot.path);
    bench.checks.that("every node serves the same rendition", length === hot.length);
  }
  /** @type {string[]} */
  const photos = [];
  for (let made = 0; made < coldRenders; made += MAX_RENDITIONS)
    photos.push((await uploadTo(first, photo)).id);
  const picture = await bench.corpus.ofBytes(UPLOAD_BYTES);
  let rendered = 0;
  return {
    hot: () => [{ path: hot.path, status: 200, length: hot.length }],
    stored: () => [{ path: hot.path, status: 200, length: hot.length }],
    cold: (count) =>
      Array.from({ length: count }, () => {
        const photoId = photos[Math.floor(rendered / MAX_RENDITIONS)] ?? "";
        return {
          path: pathOf(photoId, `?resize=${FIRST_WIDTH + (rendered++ % MAX_RENDITIONS)}x`),
          status: 200,
        };
      }),
    upload: () => [
      {
        method: "POST",
        path: "/api/images.json",
        headers: { "Content-Type": picture.contentType },
        bodyFile: picture.bodyFile,
        status: 201,
      },
    ],
  };
}

/** Of about 20 KB. @param {Node} node @param {string} id */
async function hotPath(node, id) {
  let width = 400;
  let path = "";
  let length = 0;
  for (let attempt = 0; attempt < 4; attempt++) {
    path = pathOf(id, `?resize=${width}x`);
    length = (await ask(node, path)).length;
    if (Math.abs(length / 20_000 - 1) < 0.03) break;
    width = Math.round(width * Math.sqrt(20_000 / length));
  }
  return { path, length };
}
