import { maskedPdf } from "../inputs/masked-pdf.mjs";
import { addressOf, post, upload } from "../src/client.mjs";
import { multipartOf } from "../src/multipart.mjs";
import { compare } from "../src/report.mjs";
import { median } from "../src/statistics.mjs";

/** @import { Bench } from "../src/bench.mjs" */

const ROUNDS = { full: 3, quick: 1, smoke: 1 };
const READS = { full: 60, quick: 40, smoke: 2 };
const UPLOADS = { full: 10, quick: 5, smoke: 1 };
const DEAR_SIZES = { full: 64, quick: 64, smoke: 4 };
const FIRST_DEAR_WIDTH = { full: 700, quick: 700, smoke: 50 };
const FIRST_WIDTH = 100;
/** By then the queues are full. */
const UNDER_WAY_MS = 500;

/**
 * One client requests 64 sizes of a PDF at once, each of which takes seconds. Another one reads small pictures in new
 * sizes, one after the other, and a third one uploads.
 */
export async function fairness(/** @type {Bench} */ bench) {
  const { mode } = bench.settings;
  /** @type {number[]} */
  const quiet = [];
  /** @type {number[]} */
  const busy = [];
  for (let round = 0; round < ROUNDS[mode]; round++) {
    const server = await bench.start("outrigger-express", { limits: true });
    const small = await bench.corpus.small();
    const smallId = await upload(server, small);
    const dear = { bytes: maskedPdf(), type: "application/pdf" };
    const { id: dearId, text } = await post(server, multipartOf(dear));
    if (dearId === null) throw new Error(`The PDF was refused: ${text}`);
    let width = FIRST_WIDTH;
    const readCold = async () => {
      const requests = Array.from({ length: READS[mode] }, () => ({
        path: addressOf(smallId, `?resize=${width++}x`),
        status: 200,
      }));
      const { latenciesMs } = await bench.load.run({
        port: server.port,
        requests,
        count: requests.length,
        connections: 1,
        isTimed: true,
        addresses: ["127.0.0.2"],
      });
      return median(latenciesMs);
    };
    await readCold();
    quiet.push(await readCold());

    const greedy = bench.startLoad().run({
      port: server.port,
      requests: Array.from({ length: DEAR_SIZES[mode] }, (_, index) => ({
        path: addressOf(dearId, `?resize=${FIRST_DEAR_WIDTH[mode] + index}x`, "png"),
        status: [200, 415, 429, 503],
      })),
      count: DEAR_SIZES[mode],
      connections: DEAR_SIZES[mode],
      addresses: ["127.0.0.66"],
    });
    // Requests still queued when the server ends get no answer.
    greedy.catch(() => {});
    await new Promise((resolve) => setTimeout(resolve, UNDER_WAY_MS));
    busy.push(await readCold());
    for (let index = 0; index < UPLOADS[mode]; index++) {
      const { status } = await post(server, multipartOf(small));
      bench.checks.that(`Upload beside dear renders: ${status}`, status === 201 || status === 202);
    }
    await server.stop();
  }
  return [
    compare({
      what: "Median of a small cold rendition beside 64 dear sizes of another client",
      peer: "the same without load",
      ours: busy,
      theirs: quiet,
      format: (ms) => `${ms.toFixed(1)} ms`,
      aim: { atMost: 3 },
    }),
  ];
}
