import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, test } from "vitest";
import { createFsBlobStore } from "./fs-blob-store.ts";

const root = mkdtempSync(join(tmpdir(), "outrigger-processes-"));
afterAll(() => rmSync(root, { recursive: true }));

const newDirectory = () => mkdtempSync(join(root, "store-"));

/** The start of every child script: opens the store named by its first argument, then prints a line. */
const PRELUDE = `
  import { createHash, randomBytes } from "node:crypto";
  import { writeFileSync } from "node:fs";
  import { join } from "node:path";
  import { Readable } from "node:stream";
  import { createFsBlobStore, isServiceError } from "@outrigger/core";
  const store = createFsBlobStore({ directory: process.argv[1] });
  const rest = process.argv.slice(2);
  /** Repeats a conditional write; false if it lost. */
  const won = (write) => write.then(() => true, (error) => {
    if (isServiceError(error, "conflict")) return false;
    throw error;
  });
  /** Removes all superseded generations now; a sweep does so a day later. */
  const removeSuperseded = () => store.removeSuperseded(Date.now() + 7_200_000, () => true);
  console.log("ready");
`;

const RACE = `
  const [role, ms] = rest;
  const end = Date.now() + Number(ms);
  const body = randomBytes(100);
  const result = { creates: 0, deletes: 0, succeeded: [], sizes: [] };
  while (Date.now() < end) {
    if (role === "create" && (await won(store.put("k/x", body, { ifRevision: null })))) result.creates++;
    if (role === "delete" && (await store.delete("k/x"))) result.deletes++;
    if (role === "change") {
      const revision = (await store.stat("k/x"))?.revision;
      if (revision && (await won(store.put("k/x", body, { ifRevision: revision })))) result.succeeded.push(revision);
      const blob = await store.get("k/x");
      if (blob) result.sizes.push(blob.body.length);
    }
    if (role === "sweep") await removeSuperseded();
    await new Promise(setImmediate);
  }
  console.log(JSON.stringify(result));
`;

/**
 * Adds entries to a past hour and removes every other one, while empty directories of past hours are deleted.
 */
const ADD_AND_REMOVE = `
  const [own, time] = rest;
  const add = async (index) => {
    const entry = { id: own + "-" + index, dueMs: Number(time) + index };
    await store.addDue("jobs", entry);
    if (index % 2 > 0) await store.removeDue("jobs", entry);
    if (index % 5 === 0) await store.listDue("jobs", Infinity, 1);
  };
  for (let index = 0; index < 200; index += 4) {
    await Promise.all([0, 1, 2, 3].map((offset) => add(index + offset)));
  }
  // Some hours had no entries until now.
  for (let index = 0; index < 100; index++) {
    const entry = { id: own, dueMs: Number(time) + 3_600_000 * (index % 2 + 1) };
    await store.addDue("jobs", entry);
    await store.removeDue("jobs", entry);
    await store.listDue("jobs", Infinity, 1000);
  }
`;

test("the results of simultaneous creates, changes and deletes of several processes add up", async () => {
  const directory = newDirectory();
  const roles = ["create", "create", "delete", "delete", "change", "change", "sweep"];
  const outputs = await Promise.all(roles.map((role) => outputOf(start(RACE, directory, role, "2000"))));
  const results = outputs.map((output) => JSON.parse(output));
  const sum = (name: string) => results.reduce((total, result) => total + result[name], 0);
  const store = createFsBlobStore({ directory });
  const isThere = (await store.stat("k/x")) !== null;
  assert.ok(sum("deletes") > 10, `${sum("deletes")} deletes`);
  assert.equal(sum("creates") - sum("deletes"), isThere ? 1 : 0);
  const succeeded = results.flatMap((result) => result.succeeded);
  assert.equal(new Set(succeeded).size, succeeded.length, "two writes replaced the same revision");
  assert.deepEqual(
    [...new Set(results.flatMap((result) => result.sizes))].filter((size) => size !== 100),
    [],
  );
  if (isThere) await store.delete("k/x");
  assert.deepEqual(readdirSync(join(directory, "blobs/k")), []);
});

test("processes that add to and remove from one hour of a due index lose no entry", async () => {
  const directory = newDirectory();
  const time = Date.now() - 1000 * 3_600_000;
  const names = ["a", "b", "c", "d"];
  await Promise.all(names.map((name) => outputOf(start(ADD_AND_REMOVE, directory, name, String(time)))));
  const found = await createFsBlobStore({ directory }).listDue("jobs", Date.now(), 1000);
  const expected = names.flatMap((name) => Array.from({ length: 100 }, (_, index) => `${name}-${2 * index}`));
  assert.deepEqual(found.map(({ id }) => id).sort(), expected.sort());
});

test("a new store deletes the files of dead processes, and keeps those of running ones", async () => {
  const directory = newDirectory();
  const other = start(
    `writeFileSync(join(store.spoolDirectory, "upload"), "x"); console.log(store.spoolDirectory); setInterval(() => {}, 1000);`,
    directory,
  );
  await ready(other);
  const spool = await line(other);
  createFsBlobStore({ directory });
  assert.ok(existsSync(join(spool, "upload")));
  other.kill("SIGKILL");
  await once(other, "close");
  // A directory of a process with the same number as a running one, but another start time.
  const recycled = join(dirname(spool), `${spool.split("/").at(-1)?.split(".")[0]}.${process.pid}.1`);
  writeFileSync(recycled, "");
  createFsBlobStore({ directory });
  assert.ok(!existsSync(spool));
  assert.ok(!existsSync(recycled));
});

test("processes that request the secret at the same time get the same one", async () => {
  const directory = newDirectory();
  const children = Array.from({ length: 4 }, () =>
    start(
      `process.stdin.once("data", async () => {
      console.log((await store.localSecret()).toString("hex"));
      process.exit();
    });`,
      directory,
    ),
  );
  await Promise.all(children.map(ready));
  for (const child of children) child.stdin?.write("go\n");
  const secrets = new Set((await Promise.all(children.map(outputOf))).map((output) => output.trim()));
  assert.equal(secrets.size, 1);
  assert.match([...secrets][0] ?? "", /^[0-9a-f]{64}$/);
});

function nodeArguments(script: string, ...rest: string[]): string[] {
  return ["--input-type=module", "--eval", PRELUDE + script, ...rest];
}

/** Starts a process with its own store on `directory`. */
function start(script: string, directory: string, ...rest: string[]): ChildProcess {
  return spawn(process.execPath, nodeArguments(script, directory, ...rest), {
    cwd: import.meta.dirname,
    stdio: ["pipe", "pipe", "inherit"],
  });
}

async function ready(child: ChildProcess): Promise<void> {
  assert.equal(await line(child), "ready");
}

/** The next line that a process prints. */
async function line(child: ChildProcess): Promise<string> {
  assert.ok(child.stdout !== null);
  for (let read = ""; ; ) {
    const byte = child.stdout.read(1);
    if (byte === null) await once(child.stdout, "readable");
    else if (String(byte) === "\n") return read;
    else read += byte;
  }
}

/** The output of a process until it exits with 0, without the lines already read. */
async function outputOf(child: ChildProcess): Promise<string> {
  assert.ok(child.stdout !== null);
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, "exit")]);
  assert.equal(code, 0);
  return output.replace(/^ready\n/, "");
}
