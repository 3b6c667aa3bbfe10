/**
 * Measures the format matrix, admission and the qualities, and writes them into docs/formats.md: `node
 * bench/formats.mjs`. With `--print` only to the screen, with `--qualities` only those tables, which depend on no machine. Takes
 * some minutes; nothing else should run on the machine.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRenderer } from "@outrigger/imaging";
import { measureAuto } from "./formats/auto.mjs";
import { createOriginals } from "./formats/originals.mjs";
import { measureQualities } from "./formats/qualities.mjs";
import { measureAdmission, measureMatrix, measureOverhead } from "./formats/times.mjs";
import { describeMachine } from "./src/report.mjs";
import { replaceWritten } from "./src/table.mjs";

const directory = await mkdtemp(join(tmpdir(), "outrigger-formats-"));
const isOfQualities = process.argv.includes("--qualities");
// Where no time is measured, the machine may be busy.
const renderer = createRenderer(isOfQualities ? { timeoutMs: 60_000 } : {});
try {
  if (!isOfQualities) await writeTimes();
  await write("qualities", await measureQualities(renderer));
  await write("auto", await measureAuto(renderer));
} finally {
  await renderer.close();
  await rm(directory, { recursive: true, force: true });
}

async function writeTimes() {
  const originals = await createOriginals(directory);
  const overheadMs = await measureOverhead(renderer);
  const matrix = await measureMatrix(renderer, originals);
  const admission = await measureAdmission(renderer, originals, directory);
  const date = new Date().toISOString().slice(0, 10);
  const source =
    `Medians of \`node bench/formats.mjs\` on ${date}: ${await describeMachine()}. ` +
    `One call at a time, all processes warm. The fixed cost of a call is ${overheadMs.toFixed(1)} ms.`;
  await write("times", `${source}\n\n${matrix}\n\nAdmission of an upload:\n\n${admission}`);
}

/**
 * @param {string} part
 * @param {string} text
 */
async function write(part, text) {
  console.log(`${text}\n`);
  if (process.argv.includes("--print")) return;
  await replaceWritten(new URL("../docs/formats.md", import.meta.url), `bench/formats.mjs (${part})`, text);
}
