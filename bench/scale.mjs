/**
 * Measures the figures of docs/scale.md and writes them there, and into bench/scale/inputs.json, from which it calculates the
 * model and the costs of docs/storage.md: `node bench/scale.mjs`. With `--only nodes`, `requests`, `memory` or `records` it
 * measures that part alone, with `--only model` none; with `--print` it writes nothing, with `--quick` it measures less and
 * writes nothing. Needs Redis, PostgreSQL and Ceph's object gateway. Nothing else should run on the machine.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInputs, readInputs, writeMeasured } from "./scale/inputs.mjs";
import { measureMemory } from "./scale/memory.mjs";
import { describeModel } from "./scale/model.mjs";
import { measureNodes } from "./scale/nodes.mjs";
import { describeOperations } from "./scale/operations.mjs";
import { describeRecords } from "./scale/records.mjs";
import { countRequests } from "./scale/requests.mjs";
import { withBench } from "./src/bench.mjs";
import { createCorpus } from "./src/corpus.mjs";
import { describeMachine } from "./src/report.mjs";
import { readSettings } from "./src/settings.mjs";
import { replaceWritten } from "./src/table.mjs";

/** @import { Bench } from "./src/bench.mjs" */
/** @import { Input } from "./scale/inputs.mjs" */

/**
 * A table of docs/scale.md, and what the model reads of it.
 * @typedef {{ table: string, measured: Record<string, Pick<Input, "value" | "unit">> }} Measured
 */

/** @type {Record<string, (bench: Bench) => Promise<Measured | null>>} */
const PARTS = {
  nodes: measureNodes,
  requests: countRequests,
  memory: measureMemory,
  records: describeRecords,
};
/** Tables that depend on the machine. */
const TIMED = new Set(["nodes", "records"]);

const args = process.argv.slice(2);
const settings = readSettings(
  args.filter((each) => each !== "--print"),
  [...Object.keys(PARTS), "model"],
);
const isWriting = settings.mode === "full" && !args.includes("--print");
const directory = await mkdtemp(join(tmpdir(), "outrigger-scale-"));
const corpus = createCorpus(directory, settings);
try {
  for (const [name, measure] of Object.entries(PARTS)) {
    if (settings.only !== null && settings.only !== name) continue;
    const { result } = await withBench(directory, settings, corpus, measure);
    if (result === null)
      throw new Error("This needs redis-server, postgres, and radosgw with ceph-mon and ceph-osd");
    const date = new Date().toISOString().slice(0, 10);
    const origin = `\`node bench/scale.mjs\` on ${date}: ${await describeMachine()}.\n\n`;
    await write("scale.md", name, `${TIMED.has(name) ? origin : ""}${result.table}`);
    if (isWriting) await writeMeasured(result.measured, `node bench/scale.mjs --only ${name}`);
  }
} finally {
  await rm(directory, { recursive: true, force: true });
}
const inputs = createInputs(await readInputs());
for (const [name, text] of Object.entries(describeModel(inputs))) await write("scale.md", name, text);
await write("storage.md", "operations", describeOperations(inputs));

/**
 * @param {string} page
 * @param {string} part
 * @param {string} text
 */
async function write(page, part, text) {
  console.log(`${text}\n`);
  if (!isWriting) return;
  await replaceWritten(new URL(`../docs/${page}`, import.meta.url), `bench/scale.mjs (${part})`, text);
}
