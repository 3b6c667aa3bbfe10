/**
 * Entry of the process that decodes pictures. It receives tasks over IPC, keeps no state, and may be killed at any
 * moment. `worker/` and the host's files import `shared/`, never each other.
 */

import { readdirSync } from "node:fs";
import { getPriority, setPriority } from "node:os";
import { isError, isServiceError, type Rendition } from "@outrigger/core";
import type { Rendered, Task, TaskResult, Usage, WorkerMessage } from "../shared/wire.ts";
import { saysOutOfMemory } from "./libvips.ts";

process.title = "outrigger-render";
alignThreadPriorities();
// process.exit would wait for libvips, which may work on a picture for minutes.
process.on("disconnect", () => process.kill(process.pid, "SIGKILL"));

const PIECE_BYTES = 1024 * 1024;

const performer = loadPerformer();
// Registered before anything is awaited: this listener also keeps the process alive.
process.on("message", (task: Task) => {
  const before = process.cpuUsage();
  const usage = (): Usage => {
    const { user, system } = process.cpuUsage(before);
    return { cpuMs: (user + system) / 1000, residentBytes: process.memoryUsage.rss() };
  };
  performer
    .then((perform) => perform(task))
    .then(sendInPieces)
    .then(
      (result) => send({ kind: "done", result, ...usage() }),
      (error: unknown) => send(describeFailure(error, usage())),
    );
});
performer.then(
  () => send({ kind: "ready" }),
  (error: unknown) => send({ kind: "unusable", reason: isError(error) ? error.message : String(error) }),
);

/** Sends large bytes in pieces before their result, because each message is copied several times as a whole. */
async function sendInPieces(result: TaskResult): Promise<TaskResult> {
  if (!("bytes" in result) || result.bytes.length <= PIECE_BYTES) return result;
  const { bytes } = result;
  for (let start = 0; start < bytes.length; start += PIECE_BYTES) {
    await send({ kind: "piece", bytes: bytes.subarray(start, start + PIECE_BYTES) });
  }
  return { ...result, bytes: Buffer.alloc(0) };
}

/**
 * Loads sharp with only the libvips loaders that originals need, each reading from memory only. PSD needs the TIFF
 * loader, because its pixels are converted to TIFF.
 */
async function loadPerformer(): Promise<(task: Task) => Promise<TaskResult>> {
  const { default: sharp } = await import("sharp");
  sharp.concurrency(1);
  sharp.cache(false);
  sharp.block({ operation: ["VipsForeignLoad"] });
  sharp.unblock({
    operation: ["Jpeg", "Png", "Nsgif", "Svg", "Tiff"].map((loader) => `VipsForeignLoad${loader}Buffer`),
  });
  const [{ admit }, { render }] = await Promise.all([import("./admit.ts"), import("./render.ts")]);
  return async (task) =>
    task.kind === "admit"
      ? await admit(task.source, task.type, task.options, task.limits)
      : joined(await render(task.source, task.type, task.spec, task.limits, task.mode));
}

function joined({ bytes, intermediate }: Rendition): Rendered {
  const all = intermediate === undefined ? bytes : Buffer.concat([bytes, intermediate]);
  return { bytes: all, renditionBytes: bytes.length };
}

function describeFailure(error: unknown, usage: Usage): WorkerMessage<TaskResult> {
  if (isServiceError(error)) {
    const detail = isError(error.cause) ? error.cause.message : "";
    return { kind: "failed", code: error.code, message: error.message, detail, ...usage };
  }
  const { message, stack = "" } = isError(error) ? error : new Error(String(error));
  const code = saysOutOfMemory(error) ? "memory" : "bug";
  return { kind: "failed", code, message, detail: stack, ...usage };
}

/** Resolves when the message has left this process or cannot be sent any more. */
function send(message: WorkerMessage<TaskResult>): Promise<void> {
  return new Promise((resolve) => {
    process.send?.(message, undefined, {}, () => resolve());
  });
}

/**
 * Gives every thread of this process the priority of its first thread. On Linux each thread has its own priority. The
 * host lowers only the first one's, and Node may have started others before.
 */
function alignThreadPriorities(): void {
  try {
    const priority = getPriority();
    for (const thread of readdirSync("/proc/self/task")) setPriority(Number(thread), priority);
  } catch {
    // No such files, or a thread that has just ended. A thread with a higher priority still works.
  }
}
