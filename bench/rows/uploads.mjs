import { addressOf, get, upload, uploadRequest } from "../src/client.mjs";
import { measure, repeating } from "../src/measure.mjs";
import { compare } from "../src/report.mjs";

/** @import { Bench } from "../src/bench.mjs" */
/** @import { Picture } from "../src/corpus.mjs" */
/** @import { ServerProcess } from "../src/server-process.mjs" */

const SIZES = /** @type {const} */ ([
  { title: "200 KB", bytes: 200_000, connections: 4, turns: { full: 100, quick: 30, smoke: 4 } },
  { title: "20 MB", bytes: 20_000_000, connections: 2, turns: { full: 5, quick: 2, smoke: 2 } },
]);

/** Multipart uploads, against multer with an equally careful handler. */
export async function measureRow(/** @type {Bench} */ bench) {
  const lines = [];
  for (const { title, bytes, connections, turns } of SIZES) {
    const picture = await bench.corpus.ofBytes(bytes);
    const [ours, checked] = await Promise.all([
      bench.start("outrigger inExpress", { waits: true }),
      bench.start("uploaders checkedMulter"),
    ]);
    const stored = await get(ours, addressOf(await upload(ours, picture)));
    bench.checks.that("the upload comes back as it was", stored.body.equals(picture.bytes));
    await acceptsUpload(bench, checked, picture);

    const samples = await measure(
      bench,
      {
        ours: repeating(ours, uploadRequest(picture, "/img/api/images.json")),
        checked: repeating(checked, uploadRequest(picture, "/images")),
      },
      { connections, turns },
    );
    lines.push(
      compare({
        what: `Upload of ${title}, Express 5`,
        ours: samples.ours,
        peer: "multer to disk, synced, with SHA-256 and a proving decode by `sharp`",
        theirs: samples.checked,
        atMost: title === "200 KB" ? 1 : 1.1,
      }),
    );
  }
  return lines;
}

/**
 * @param {Bench} bench
 * @param {ServerProcess} server
 * @param {Picture} picture
 */
async function acceptsUpload(bench, server, picture) {
  const form = new FormData();
  form.set("imagedata", new Blob([new Uint8Array(picture.bytes)], { type: "image/jpeg" }), "picture.jpg");
  const response = await fetch(`${server.origin}/images`, { method: "POST", body: form });
  const record = response.status === 201 ? await response.json() : null;
  bench.checks.that(`${server.kind}: ${response.status}`, record?.size === picture.bytes.length);
}
