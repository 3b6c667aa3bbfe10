/**
 * Measures the figures of docs/scale.md for several nodes, and writes them there: `node bench/scale.mjs`. With
 * `--print` only to the screen, with `--quick` fewer of them. Needs Redis and Ceph's object gateway. Nothing else
 * should run on the machine.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { measureMemory } from "./scale/memory.mjs";
import { describeModel } from "./scale/model.mjs";
import { measureNodes } from "./scale/nodes.mjs";
import { countRequests } from "./scale/requests.mjs";
import { withBench } from "./src/bench.mjs";
import { createCorpus } from "./src/corpus.mjs";
import { describeMachine } from "./src/report.mjs";
import { readSettings } from "./src/settings.mjs";
import { replaceWritten } from "./src/table.mjs";

/** @import { Bench } from "./src/bench.mjs" */

const args = process.argv.slice(2);
const settings = readSettings(
  args.filter((each) => each !== "--print"),
  [],
);
const isWriting = settings.mode === "full" && !args.includes("--print");
const directory = await mkdtemp(join(tmpdir(), "outrigger-scale-"));
const corpus = createCorpus(directory, settings);
try {
  const { table: nodes, costs } = await run(measureNodes);
  const { table: requests, split } = await run(countRequests);
  const { table: memory, footprint } = await run(measureMemory);
  const date = new Date().toISOString().slice(0, 10);
  await write("nodes", `\`node bench/scale.mjs\` on ${date}: ${await describeMachine()}.\n\n${nodes}`);
  await write("requests", requests);
  await write("memory", memory);
  await write("model", describeModel({ costs, split, footprint }));
} finally {
  await rm(directory, { recursive: true, force: true });
}

/**
 * @template Result
 * @param {(bench: Bench) => Promise<Result | null>} part
 */
async function run(part) {
  const { result } = await withBench(directory, settings, corpus, part);
  if (result === null) throw new Error("This needs redis-server, and radosgw with ceph-mon and ceph-osd");
  return result;
}

/**
 * @param {string} part
 * @param {string} text
 */
async function write(part, text) {
  console.log(`${text}\n`);
  if (!isWriting) return;
  await replaceWritten(new URL("../docs/scale.md", import.meta.url), `bench/scale.mjs (${part})`, text);
}
