import { addressOf, upload } from "../src/client.mjs";
import { turn } from "../src/measure.mjs";
import { compare, formatMicros } from "../src/report.mjs";

/** @import { Bench } from "../src/bench.mjs" */

const AT_ONCE = 16;
const RENDERS = { full: 10, quick: 6, smoke: 1 };
const ROUNDS = { full: 5, quick: 3, smoke: 1 };
const SETTLE_MS = 150;

/** Many clients request the same rendition at the same moment, before it exists. */
export async function flight(/** @type {Bench} */ bench) {
  const { mode } = bench.settings;
  const server = await bench.start("outrigger-express");
  const id = await upload(server, await bench.corpus.photo());
  let width = mode === "smoke" ? 400 : 750;
  const pathOf = () => addressOf(id, `?resize=${width}x`);
  await bench.checks.resized(server, pathOf(), width);

  /** The CPU of one rendition requested by this many clients. @param {number} clients */
  const cost = async (clients) => {
    let micros = 0;
    for (let render = 0; render < RENDERS[mode]; render++) {
      width++;
      const requests = () => [{ path: pathOf(), status: 200 }];
      micros += clients * (await turn(bench, { server, requests }, clients, { connections: clients }));
    }
    const before = await server.cpuMicros();
    await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
    return (micros + (await server.cpuMicros()) - before) / RENDERS[mode];
  };
  await cost(1);
  /** @type {number[]} */
  const one = [];
  /** @type {number[]} */
  const many = [];
  for (let round = 0; round < ROUNDS[mode]; round++) {
    one.push(await cost(1));
    many.push(await cost(AT_ONCE));
  }
  return [
    compare({
      what: `The same cold rendition for ${AT_ONCE} clients at once`,
      peer: "for one client",
      ours: many,
      theirs: one,
      format: formatMicros,
      aim: { atMost: 1.3 },
    }),
  ];
}
