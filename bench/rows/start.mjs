import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { compare } from "../src/report.mjs";

/** @import { Bench } from "../src/bench.mjs" */

const TURNS = { full: 15, quick: 7, smoke: 1 };
const OURS = ["core", "imaging", "web", "express", "node"].map((name) => `@outrigger/${name}`);
const PEERS = ["express", "sharp", "multer"];
const COMMAND = fileURLToPath(new URL("../../packages/server/bin/outrigger.js", import.meta.url));
const FIRST_REPLY_MICROS = 500_000;

/** CPU that a host spends on importing our packages, and the time until the `outrigger` command answers its first request. */
export async function measureRow(/** @type {Bench} */ bench) {
  /** @type {Record<"ours" | "peers" | "first", number[]>} */
  const micros = { ours: [], peers: [], first: [] };
  const directory = await bench.makeDirectory("start");
  for (let turn = 0; turn < TURNS[bench.settings.mode]; turn++) {
    micros.ours.push(await importMicros(OURS));
    micros.peers.push(await importMicros(PEERS));
    const { status, tookMicros } = await serveOnce(directory);
    bench.checks.that(`the command answers its first request with ${status}`, status === 200);
    micros.first.push(tookMicros);
  }
  return [
    compare({
      what: "CPU of importing core, imaging, web, express and node",
      ours: micros.ours,
      peer: "Express 5, `sharp` and multer",
      theirs: micros.peers,
      atMost: 0.5,
    }),
    compare({
      what: "`outrigger serve`, from the command to its first reply",
      ours: micros.first,
      peer: "budget",
      theirs: micros.first.map(() => FIRST_REPLY_MICROS),
      atMost: 1,
    }),
  ];
}

/** @param {readonly string[]} names */
async function importMicros(names) {
  const script = `
    const before = process.cpuUsage();
    for (const name of ${JSON.stringify(names)}) await import(name);
    const { user, system } = process.cpuUsage(before);
    console.log(user + system);
  `;
  const options = { cwd: import.meta.dirname };
  const args = ["--input-type=module", "--eval", script];
  const { stdout } = await promisify(execFile)(process.execPath, args, options);
  return Number(stdout);
}

/** @param {string} cwd */
async function serveOnce(cwd) {
  const began = performance.now();
  const child = spawn(process.execPath, [COMMAND, "serve"], {
    cwd,
    env: { PATH: process.env.PATH, PORT: "0" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const log = text(child.stderr);
  const exit = once(child, "exit");
  try {
    for await (const chunk of child.stdout) {
      const [base] = /http:\/\/[^\s/]+:\d+/.exec(String(chunk)) ?? [];
      if (base === undefined) continue;
      const { status } = await fetch(`${base}/healthz`);
      return { status, tookMicros: 1000 * (performance.now() - began) };
    }
    throw new Error(`The command ended without listening:\n${await log}`);
  } finally {
    child.kill();
    await exit;
  }
}
