/** A worker whose tasks select how it behaves, for worker-pool.long.test.ts. */
import { spawn } from "node:child_process";
import { createHash, randomUUID } from "node:crypto";
import { once } from "node:events";
import { setTimeout } from "node:timers/promises";
import { receive, send, sendRaw } from "./worker-pipe.mjs";

const hoard = [];
/** In a sandbox every worker has the same process id. */
const worker = randomUUID();
const usage = (before) => {
  const { user, system } = process.cpuUsage(before);
  return { cpuMs: (user + system) / 1000, residentBytes: null };
};

/** Starts a process, in a session of its own unless told otherwise. Resolves with "spawned", or with the code of the failure. */
async function start(script, detached = true) {
  try {
    const child = spawn(process.execPath, ["-e", script], { detached, stdio: "inherit" });
    await once(child, "spawn");
    return "spawned";
  } catch (error) {
    return error.code;
  }
}

async function perform(task, bytes) {
  if (task.do === "answer") return { worker, value: task.value, received: bytes.toString("latin1") };
  if (task.do === "answer later") return await setTimeout(task.ms, { worker, value: task.value });
  if (task.do === "digest") return { value: createHash("sha256").update(bytes).digest("hex") };
  if (task.do === "send") sendRaw(Buffer.from(task.raw, "latin1"));
  if (task.do === "refuse")
    return Promise.reject(Object.assign(new Error(task.message), { code: task.code }));
  if (task.do === "compute") {
    const before = process.cpuUsage();
    while (process.cpuUsage(before).user < task.cpuMs * 1000);
    return { worker };
  }
  if (task.do === "spawn") {
    const value = await Promise.all(
      Array.from({ length: task.count }, () => start(task.script, task.detached)),
    );
    return await setTimeout(task.ms, { worker, value });
  }
  if (task.do === "raise") process.kill(process.pid, task.signal);
  if (task.do === "exit") process.exit(task.code);
  if (task.do === "hold memory") {
    const startedAt = Date.now();
    const held = Buffer.alloc(task.bytes, 1);
    await setTimeout(task.ms);
    return { worker, value: task.value, startedAt, endedAt: Date.now(), held: held.length };
  }
  if (task.do === "take memory") {
    hoard.push(Buffer.alloc(task.bytes, 1));
    if (task.thenAnswer) return { worker };
  }
  return await new Promise(() => {});
}

receive((task, bytes) => {
  const before = process.cpuUsage();
  perform(task, bytes).then(
    (result) => {
      send({ kind: "done", result, ...usage(before) }, Buffer.from(task.attach ?? "", "latin1"));
      // Once the answer has left.
      if (task.thenTake) setTimeout(100).then(() => hoard.push(Buffer.alloc(task.thenTake, 1)));
      if (task.thenSend) setImmediate(() => sendRaw(Buffer.from(task.thenSend, "latin1")));
    },
    ({ code = "memory", message }) => send({ kind: "failed", code, message, detail: "", ...usage(before) }),
  );
});
send({ kind: "ready" });
