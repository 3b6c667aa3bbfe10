import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import type { RequestListener } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, beforeEach } from "vitest";
import { type Host, serveHost } from "../support/listen.ts";

export const BIN = fileURLToPath(new URL("../../packages/server/bin/outrigger.js", import.meta.url));

export interface CommandOptions {
  cwd: string;
  env?: Record<string, string>;
  /** Standard input. @default nothing */
  input?: Uint8Array;
}

export interface RunningCommand {
  child: ChildProcess;
  ended: Promise<{ code: number | NodeJS.Signals | null; stdout: string; stderr: string }>;
}

/** Starts the real command. Its environment is `env` and PATH. */
export function start(args: readonly string[], { cwd, env = {}, input }: CommandOptions): RunningCommand {
  const child = spawn(process.execPath, [BIN, ...args], {
    cwd,
    env: { PATH: process.env.PATH ?? "", XDG_STATE_HOME: join(cwd, "state"), ...env },
    stdio: "pipe",
  });
  // A command that has read enough closes its input.
  child.stdin.on("error", () => {});
  child.stdin.end(input);
  const ended = Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]).then(
    ([stdout, stderr, [code, signal]]) => ({ code: code ?? signal, stdout, stderr }),
  );
  return { child, ended };
}

/** A place to run commands: a directory for each test, and one server for all tests of a file. */
export interface Site {
  url(): string;
  /** An API key for the sample data of the lookup. */
  key(): string;
  /** The directory of this test, with an empty `tmp` for temporary files of the commands. */
  cwd(): string;
  /** Runs a command against the server to its end. */
  run(args: readonly string[], env?: Record<string, string>, input?: Uint8Array): RunningCommand["ended"];
  /** Starts another server until the test ends. @returns its address. */
  instead(answer: RequestListener): Promise<string>;
}

/** Runs `outrigger serve --demo` as a separate process while the tests of this file run. */
export function serveForAll(): Site {
  let base = "";
  let cwd = "";
  let server: { url: string; key: string; close(): Promise<void> } | null = null;
  const others: Host[] = [];
  const site: Site = {
    url: () => server?.url ?? "",
    key: () => server?.key ?? "",
    cwd: () => cwd,
    run(args, env = {}, input = Buffer.alloc(0)) {
      const known = {
        OUTRIGGER_URL: site.url(),
        OUTRIGGER_API_KEY: site.key(),
        TMPDIR: join(cwd, "tmp"),
        ...env,
      };
      return start(args, { cwd, env: known, input }).ended;
    },
    async instead(answer) {
      const other = await serveHost(answer);
      others.push(other);
      return other.origin;
    },
  };
  beforeAll(async () => {
    base = await mkdtemp(join(tmpdir(), "outrigger-commands-"));
    server = await serve(base);
  });
  beforeEach(async () => {
    cwd = await mkdtemp(join(base, "at-"));
    await mkdir(join(cwd, "tmp"));
  });
  afterEach(async () => {
    for (const other of others.splice(0)) await other.close();
  });
  afterAll(async () => {
    await server?.close();
    await rm(base, { recursive: true, force: true });
  });
  return site;
}

async function serve(cwd: string) {
  const { child, ended } = start(["serve", "--demo", "--port", "0"], { cwd });
  let printed = "";
  child.stdout?.on("data", (chunk) => {
    printed += chunk;
  });
  const said = () => /^Outrigger listens on (\S+)\nSample key: (\S+)\n/.exec(printed);
  while (said() === null) {
    if (child.stdout === null || child.exitCode !== null) throw new Error((await ended).stderr);
    await Promise.race([once(child.stdout, "data"), ended]);
  }
  const [, url = "", key = ""] = said() ?? [];
  const close = async () => {
    child.kill("SIGKILL");
    await ended;
  };
  return { url, key, close };
}
