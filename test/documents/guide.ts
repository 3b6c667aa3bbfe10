import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect } from "vitest";
import { freePort } from "../support/listen.ts";
import { programs } from "../support/programs.ts";
import type { Block } from "./pages.ts";
import { writeSamples } from "./samples.ts";
import { writeStandIns } from "./stand-ins.ts";

/** What a page needs before its first block. */
export interface GuideOptions {
  /** What the page shows, and what is there in truth. */
  places?: readonly (readonly [shown: string, real: string])[];
  /** Commands before the first block. */
  before?: string;
  /** Variables of the reader. */
  env?: Record<string, string>;
  /** Writes more files into the reader's directory. */
  prepare?: (directory: string) => Promise<void>;
}

/** A reader of one page: a directory, a shell, and a server that listens where the page says. */
export interface Guide {
  /** Runs a block as it stands in the page, but for its places. Resolves when it ended or serves. */
  run(block: Pick<Block, "code" | "exit">): Promise<void>;
  close(): Promise<void>;
}

const DEMO = { code: "outrigger serve --demo", exit: 0 };
const BLOCK_MS = 90_000;
const SERVES = /\b(?:npm start|outrigger serve(?! --check)|node server\.c?js)\b/;
const LISTENS = /(?:listens?|served) on http:/;
/** An ID as the pages show it: neither a word nor part of one. */
const ID = /(?<=[/ ])(?=[\w-]*[A-Z])(?=[\w-]*\d)[\w-]{22}(?![\w-])/g;

/** `outrigger serve --demo` runs from the first block that needs a server, until a block starts a server of its own. */
export async function openGuide(options: GuideOptions = {}): Promise<Guide> {
  const directory = await mkdtemp(join(tmpdir(), "outrigger-guide-"));
  const bin = join(directory, ".bin");
  const cwd = join(directory, "reader");
  const state = join(directory, "environment");
  const port = await freePort();
  const base = `http://127.0.0.1:${port}`;
  const seen = { image: "", pin: "", key: "", token: "" };
  let server: ChildProcess | null = null;

  await mkdir(cwd);
  await Promise.all([writeStandIns(bin), writeSamples(cwd), options.prepare?.(cwd)]);
  // A reply of 400 or above fails the block.
  await writeFile(join(cwd, ".curlrc"), "fail\nsilent\nshow-error\n");
  await writeFile(state, "");

  const places: readonly (readonly [string, string])[] = [
    ...(options.places ?? []),
    ["https://example.com/img", base],
    ["https://example.com/people", base],
    ["https://img.example.com/legal", "https://img.example.org/legal"],
    ["https://img.example.com", base],
    ["http://127.0.0.1:3000", base],
    ["/var/lib/outrigger", join(cwd, "data")],
    ["/backup/", `${join(cwd, "backup")}/`],
    ["/var/tmp/", `${cwd}/`],
  ];
  const env = {
    PATH: `${bin}:${dirname(programs.redisServer)}:${dirname(process.execPath)}:${process.env.PATH}`,
    ...{ HOME: cwd, PORT: String(port), OUTRIGGER_URL: base, LOOKUP_SECRET: randomBytes(32).toString("hex") },
    ...options.env,
  };

  function note(output: string): void {
    const last = (pattern: RegExp) => [...output.matchAll(pattern)].at(-1)?.[1];
    seen.image = last(/(http:\/\/127\.0\.0\.1:\d+(?:\/img)?\/[\w-]{22})\b/g) ?? seen.image;
    seen.pin = last(/(?:pin=|Pin: |"pin": ?")([0-9A-Z]{16})/g) ?? seen.pin;
    seen.key = last(/[Kk]ey"?: ?"?([0-9a-f]{40})/g) ?? seen.key;
    seen.token = last(/"token": ?"([0-9a-f]{32})"/g) ?? seen.token;
  }

  /** Where the image that the page showed last is gone, uploads one like it. */
  async function keepImage(): Promise<void> {
    if (seen.image !== "") {
      // A busy machine answers 202 to an upload, and refuses edits until it is processed.
      const seenNow = async () => await (await fetch(seen.image, { headers: { accept: "*/*" } })).text();
      await expect.poll(seenNow).not.toMatch(/"status": ?"processing"/);
      if ((await fetch(seen.image)).ok) return;
    }
    const form = new FormData();
    form.set("imagedata", new File([new Uint8Array(await readFile(join(cwd, "photo.jpg")))], "photo.jpg"));
    const reply = await fetch(`${base}/api/images.json`, { method: "POST", body: form });
    const body = await reply.text();
    if (!reply.ok) throw new Error(`The upload of a sample failed: ${reply.status} ${body}`);
    const { url, pin } = JSON.parse(body) as { url: string; pin: string };
    Object.assign(seen, { image: url, pin });
  }

  async function uploadPdf(): Promise<string> {
    const form = new FormData();
    form.set("imagedata", new File([new Uint8Array(await readFile(join(cwd, "pages.pdf")))], "pages.pdf"));
    const reply = await fetch(`${base}/api/images.json`, { method: "POST", body: form });
    return ((await reply.json()) as { id: string }).id;
  }

  async function scriptOf(code: string): Promise<string> {
    let script = /^\$ /m.test(code) ? commandsOf(code) : code;
    if (/<id|<PIN>|PIN=…|pin=…/.test(script) || script.search(ID) !== -1) await keepImage();
    script = script
      .replaceAll(/<id(?: or address)?>/g, seen.image.slice(-22))
      .replaceAll(ID, seen.image.slice(-22))
      .replaceAll(/<PIN>|(?<=pin=|PIN=)…|9KQ2-…/g, seen.pin)
      .replaceAll(/<key>|(?<=api_key=|API_KEY=)…/g, seen.key)
      .replaceAll("<token>", seen.token)
      .replaceAll(/(?<=revoke \w+ )[0-9a-f]{6}\b/g, seen.key.slice(0, 6))
      .replaceAll(/(?<=SECRET=)…/g, "0123456789abcdef0123456789abcdef");
    if (script.includes("<id of a PDF>")) script = script.replaceAll("<id of a PDF>", await uploadPdf());
    for (const [shown, real] of places) script = script.replaceAll(shown, real);
    return script;
  }

  async function stopServer(): Promise<void> {
    if (server === null) return;
    const child = server;
    server = null;
    if (child.exitCode !== null || child.pid === undefined) return;
    const ended = once(child, "close");
    process.kill(-child.pid, "SIGTERM");
    await ended;
  }

  async function run(block: Pick<Block, "code" | "exit">): Promise<void> {
    const serves = SERVES.test(block.code);
    if (serves && !SERVES.test(block.code.trim().split("\n").at(-1) ?? ""))
      throw new Error("Commands behind one that serves are never reached: give them a block of their own");
    if (serves) await stopServer();
    else if (server === null && /\bcurl|<id/.test(block.code)) await run(DEMO);
    const script = await scriptOf(block.code);
    const whole = `cd "${cwd}"\n. "${state}"\nset -euo pipefail\n${script}\nexport -p > "${state}"\n`;
    const child = spawn("/bin/bash", ["-c", whole], {
      env,
      stdio: ["ignore", "pipe", "pipe"],
      detached: true,
    });
    let output = "";
    const listens = new Promise<void>((resolve) => {
      for (const stream of [child.stdout, child.stderr])
        stream.setEncoding("utf8").on("data", (text: string) => {
          output += text;
          if (serves && LISTENS.test(output)) resolve();
        });
    });
    const timer = setTimeout(() => process.kill(-(child.pid ?? 0), "SIGKILL"), BLOCK_MS);
    const ended = once(child, "close").then(([code]) => {
      if (code !== block.exit || serves) throw new Error(`${script}\nended with ${code}:\n${output}`);
    });
    await Promise.race([serves ? listens : ended, ended]).finally(() => clearTimeout(timer));
    if (serves) {
      server = child;
      // It is ended by a signal.
      ended.catch(() => {});
      // The key of a demonstration is printed behind the address.
      await new Promise((resolve) => setTimeout(resolve, 300));
    }
    note(output);
  }

  if (options.before !== undefined) await run({ code: options.before, exit: 0 });
  return {
    run,
    async close() {
      await stopServer();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** The commands of a block that shows their output as well. */
function commandsOf(code: string): string {
  return code
    .split("\n")
    .filter((line) => line.startsWith("$ "))
    .map((line) => line.slice(2))
    .join("\n");
}
