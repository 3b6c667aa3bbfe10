import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import sharp from "sharp";
import { afterEachTest } from "../../../test/support/hooks.ts";

const BIN = fileURLToPath(new URL("../bin/outrigger.js", import.meta.url));
const INDEX_BIN = fileURLToPath(new URL("../../page-index/bin/outrigger-index.js", import.meta.url));

export interface OutriggerProcess {
  child: ChildProcess;
  /** Its output until now. */
  output: { stdout: string; stderr: string };
  /** The address that it prints once it listens. Rejects if it ends before. */
  url: Promise<string>;
  /** Its exit code, or the name of the signal that killed it. */
  exit: Promise<number | NodeJS.Signals | null>;
  /** Resolves when standard error contains `text`. Rejects if the process ends before. */
  logged(text: string): Promise<void>;
}

export interface SpawnOptions {
  cwd: string;
  env?: Record<string, string>;
  /** Its standard input. @default empty */
  input?: string;
  /** Whether permissions bind it, even as root. @default false */
  isBound?: boolean;
}

/** Runs Node as root without the capabilities to pass over permissions. Another user might not reach the command. */
const WITHOUT_POWER = [
  "setpriv",
  "--bounding-set",
  "-dac_override,-dac_read_search",
  process.execPath,
] as const;

const running = new Set<OutriggerProcess>();
const directories = new Set<string>();

// Ends the processes of a test after the test, even if it failed.
afterEachTest(async () => {
  for (const { child, exit } of running) {
    if (child.exitCode === null && child.signalCode === null) child.kill("SIGKILL");
    await exit;
  }
  running.clear();
  for (const directory of directories) await rm(directory, { recursive: true, force: true });
  directories.clear();
});

/** A new directory that is removed after the test. */
export async function temporaryDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "outrigger-server-"));
  directories.add(directory);
  return directory;
}

/** Runs the real command. Of the environment it inherits only PATH. */
export function outrigger(args: readonly string[], options: SpawnOptions): OutriggerProcess {
  return start(BIN, args, options);
}

/** Runs the real command of the page index, as {@link outrigger} does. */
export function outriggerIndex(args: readonly string[], options: SpawnOptions): OutriggerProcess {
  return start(INDEX_BIN, args, options);
}

function start(
  bin: string,
  args: readonly string[],
  { cwd, env = {}, input = "", isBound = false }: SpawnOptions,
): OutriggerProcess {
  const [program, ...before] = isBound && process.geteuid?.() === 0 ? WITHOUT_POWER : [process.execPath];
  const child = spawn(program, [...before, bin, ...args], {
    cwd,
    env: { PATH: process.env.PATH ?? "", ...env },
    stdio: ["pipe", "pipe", "pipe"],
  });
  // A process that reads nothing may have ended before.
  child.stdin.on("error", () => {}).end(input);
  const output = { stdout: "", stderr: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output.stdout += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    output.stderr += text;
  });
  const exit = once(child, "close").then(([code, signal]) => code ?? signal);
  const until = async (stream: "stdout" | "stderr", isThere: () => boolean) => {
    while (!isThere()) {
      const ended = await Promise.race([
        once(child[stream], "data").then(() => false),
        exit.then(() => true),
      ]);
      if (ended && !isThere()) throw new Error(`outrigger ended:\n${output.stdout}${output.stderr}`);
    }
  };
  const url = until("stdout", () => output.stdout.includes("\n")).then(() => {
    return /^Outrigger listens on (\S+)\n/.exec(output.stdout)?.[1] ?? "";
  });
  // Tests of a server that does not start ignore it.
  url.catch(() => {});
  const started: OutriggerProcess = {
    child,
    output,
    url,
    exit,
    logged: (text) => until("stderr", () => output.stderr.includes(text)),
  };
  running.add(started);
  return started;
}

/** Runs the real command to its end. */
export async function ran(cwd: string, args: readonly string[], env: Record<string, string> = {}) {
  const { exit, output } = outrigger(args, { cwd, env });
  return { code: await exit, ...output };
}

/** `outrigger serve` on a free port. */
export function serve(cwd: string, args: readonly string[] = [], env: Record<string, string> = {}) {
  return outrigger(["serve", "--port", "0", ...args], { cwd, env });
}

/** Runs a server for as long as `work` takes, and expects that it then ends well. */
export async function served<T>(
  cwd: string,
  env: Record<string, string>,
  work: (base: string) => Promise<T>,
  args: readonly string[] = [],
): Promise<T> {
  const { url, child, exit } = serve(cwd, args, env);
  const done = await work(await url);
  child.kill("SIGTERM");
  assert.equal(await exit, 0);
  return done;
}

/** A real JPEG of 64 × 48 pixels. */
export function jpeg(): Promise<Buffer> {
  const stripes = Buffer.from(Array.from({ length: 64 * 48 * 3 }, (_, index) => (index * 7) % 256));
  return sharp(stripes, { raw: { width: 64, height: 48, channels: 3 } })
    .jpeg()
    .toBuffer();
}

export interface Uploaded {
  id: string;
  pin: string;
  url: string;
  editUrl: string;
  expiresAt: string;
}

export async function upload(
  base: string,
  bytes: Buffer,
  fields: Record<string, string> = {},
): Promise<Response> {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.set(name, value);
  form.set("imagedata", new File([new Uint8Array(bytes)], "stripes.jpg", { type: "image/jpeg" }));
  return fetch(`${base}/api/images.json`, {
    method: "POST",
    body: form,
    headers: { "User-Agent": "test/1.0" },
  });
}

/** Uploads an image and waits until it is ready: a busy machine answers 202. */
export async function uploaded(base: string, bytes: Buffer): Promise<Uploaded> {
  const response = await upload(base, bytes);
  if (response.status === 202) {
    const image = (await response.json()) as Uploaded;
    const isPending = async () => (await fetch(`${base}/api/images/${image.id}.json`)).status === 202;
    while (await isPending()) await delay(100);
    return image;
  }
  if (response.status !== 201) throw new Error(`${response.status}: ${await response.text()}`);
  return (await response.json()) as Uploaded; // The tests of core verify this shape.
}
