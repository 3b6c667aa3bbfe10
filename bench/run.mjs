import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { withBench } from "./src/bench.mjs";
import { createCorpus } from "./src/corpus.mjs";
import { describeMachine, formatTable } from "./src/report.mjs";
import { readSettings } from "./src/settings.mjs";

/** @import { Line } from "./src/report.mjs" */

/** Files of `rows/`, in the order of the table. */
const ROWS = [
  ...["hot", "not-modified", "cold", "documents", "latency", "uploads", "memory"],
  ...["hostile", "sweep", "lookup", "pages", "backends-hot", "start"],
];

if (process.platform !== "linux") throw new Error("The benchmark reads /proc: it runs on Linux only");
const settings = readSettings(process.argv.slice(2), ROWS);
const beganMs = performance.now();
const directory = await mkdtemp(join(tmpdir(), "outrigger-bench-"));
/** @type {Line[]} */
const lines = [];
try {
  const corpus = createCorpus(directory, settings);
  for (const name of ROWS) {
    if (settings.only !== null && settings.only !== name) continue;
    const { measureRow } = await import(`./rows/${name}.mjs`);
    const rowStart = performance.now();
    const { result, checked } = await withBench(directory, settings, corpus, measureRow);
    lines.push(...result);
    const seconds = ((performance.now() - rowStart) / 1000).toFixed(1);
    console.log(`${name}: ${checked} answers as they should be, ${result.length} lines, ${seconds} s`);
  }
} finally {
  await rm(directory, { recursive: true, force: true });
}
if (settings.mode !== "smoke") await report();

async function report() {
  const command = ["npm run bench", ...process.argv.slice(2)].join(" ").replace("bench --", "bench -- --");
  const minutes = ((performance.now() - beganMs) / 60_000).toFixed(1);
  const date = new Date().toISOString().slice(0, 10);
  const text = `\`${command}\` on ${date}, ${minutes} min: ${describeMachine()}.\n\n${formatTable(lines)}`;
  console.log(`\n${text}`);
  if (settings.mode !== "full" || settings.only !== null) return;
  const page = new URL("README.md", import.meta.url);
  const written = /(<!-- The benchmark writes from here -->).*(<!-- to here -->)/s;
  await writeFile(page, (await readFile(page, "utf8")).replace(written, `$1\n\n${text}\n\n$2`));
}
