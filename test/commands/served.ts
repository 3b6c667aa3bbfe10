import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { createServer, type RequestListener, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, beforeEach } from "vitest";

const BIN = fileURLToPath(new URL("../../packages/server/bin/outrigger.js", import.meta.url));

export interface CommandOptions {
  cwd: string;
  env?: Record<string, string>;
  /** The text at its standard input. @default nothing */
  input?: Uint8Array;
}

export interface RunningCommand {
  child: ChildProcess;
  ended: Promise<{ code: number | NodeJS.Signals | null; stdout: string; stderr: string }>;
}

/** Starts the real command, with only the environment that programs need to be found. */
export function start(args: readonly string[], { cwd, env = {}, input }: CommandOptions): RunningCommand {
  const child = spawn(process.execPath, [BIN, ...args], {
    cwd,
    env: { PATH: process.env.PATH ?? "", ...env },
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

/** A place to run commands: a directory for each test, and one server for all of a file. */
export interface Site {
  url(): string;
  /** API key of the lookup's samples. */
  key(): string;
  /** Working directory of this test, with an empty `tmp` for the commands' temporary files. */
  cwd(): string;
  /** Runs a command against the server until it exits. */
  run(args: readonly string[], env?: Record<string, string>, input?: Uint8Array): RunningCommand["ended"];
  /** A foreign server with the given replies, until the test ends. @returns its address. */
  instead(answer: RequestListener): Promise<string>;
}

/** Runs `outrigger serve --demo` as a separate process during the tests of this file. */
export function serveForAll(): Site {
  let base = "";
  let cwd = "";
  let server: { url: string; key: string; close(): Promise<void> } | null = null;
  const others: Server[] = [];
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
      const other = createServer(answer).listen(0, "127.0.0.1");
      others.push(other);
      await once(other, "listening");
      const address = other.address();
      return `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`;
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
  afterEach(() => {
    for (const other of others.splice(0)) {
      other.close();
      other.closeAllConnections();
    }
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
