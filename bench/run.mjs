import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { backendsHot } from "./rows/backends-hot.mjs";
import { cold } from "./rows/cold.mjs";
import { documents } from "./rows/documents.mjs";
import { hostile } from "./rows/hostile.mjs";
import { hot } from "./rows/hot.mjs";
import { latency } from "./rows/latency.mjs";
import { lookup } from "./rows/lookup.mjs";
import { memory } from "./rows/memory.mjs";
import { notModified } from "./rows/not-modified.mjs";
import { pages } from "./rows/pages.mjs";
import { start } from "./rows/start.mjs";
import { sweep } from "./rows/sweep.mjs";
import { uploads } from "./rows/uploads.mjs";
import { withBench } from "./src/bench.mjs";
import { createCorpus } from "./src/corpus.mjs";
import { describeMachine, formatTable } from "./src/report.mjs";
import { readSettings } from "./src/settings.mjs";
import { replaceWritten } from "./src/table.mjs";

/** @import { Line } from "./src/report.mjs" */

const ROWS = {
  hot,
  "not-modified": notModified,
  cold,
  documents,
  latency,
  uploads,
  memory,
  hostile,
  sweep,
  lookup,
  pages,
  "backends-hot": backendsHot,
  start,
};

if (process.platform !== "linux") throw new Error("The benchmark reads /proc: it runs on Linux only");
const settings = readSettings(process.argv.slice(2), Object.keys(ROWS));
const beganMs = performance.now();
const directory = await mkdtemp(join(tmpdir(), "outrigger-bench-"));
/** @type {Line[]} */
const lines = [];
try {
  const corpus = createCorpus(directory, settings);
  for (const [name, row] of Object.entries(ROWS)) {
    if (settings.only !== null && settings.only !== name) continue;
    const rowStart = performance.now();
    const { result, checked } = await withBench(directory, settings, corpus, row);
    lines.push(...result);
    const seconds = ((performance.now() - rowStart) / 1000).toFixed(1);
    console.log(`${name}: ${checked} answers as they should be, ${result.length} lines, ${seconds} s`);
  }
} finally {
  await rm(directory, { recursive: true, force: true });
}
if (settings.mode !== "smoke") await report();

async function report() {
  const table = formatTable(lines);
  const command = ["npm run bench", ...process.argv.slice(2)].join(" ").replace("bench --", "bench -- --");
  const minutes = ((performance.now() - beganMs) / 60_000).toFixed(1);
  const source = `\`${command}\` on ${new Date().toISOString().slice(0, 10)}, ${minutes} min, warm-up ${settings.warmUpCpuMs / 1000} s of CPU: ${await describeMachine()}.`;
  console.log(`\n${source}\n\n${table}`);
  if (settings.mode === "full" && settings.only === null) {
    await replaceWritten(new URL("README.md", import.meta.url), "The benchmark", `${source}\n\n${table}`);
  }
}
