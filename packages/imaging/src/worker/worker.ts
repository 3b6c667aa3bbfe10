import { readdirSync } from "node:fs";
import { getPriority, setPriority } from "node:os";
import { isError, isServiceError, type Rendition } from "@outrigger/core";
import type { Rendered, Task, TaskResult, Usage, WorkerMessage } from "../shared/wire.ts";
import { saysOutOfMemory } from "./libvips.ts";

/**
 * The process that touches pictures. It is told tasks over IPC and may be killed at any moment; it holds nothing that
 * would be missed.
 */

process.title = "outrigger-render";
alignThreadPriorities();
// process.exit would wait for libvips to come back from a picture that may keep it for minutes.
process.on("disconnect", () => process.kill(process.pid, "SIGKILL"));

const PIECE_BYTES = 1024 * 1024;

const performer = loadPerformer();
// Before anything else is awaited: this listener is also what keeps the process alive.
process.on("message", (task: Task) => {
  const before = process.cpuUsage();
  const usage = (): Usage => {
    const { user, system } = process.cpuUsage(before);
    return { cpuMs: (user + system) / 1000, residentBytes: process.memoryUsage.rss() };
  };
  performer
    .then((perform) => perform(task))
    .then(tellInPieces)
    .then(
      (result) => tell({ kind: "done", result, ...usage() }),
      (error: unknown) => tell(describeFailure(error, usage())),
    );
});
performer.then(
  () => tell({ kind: "ready" }),
  (error: unknown) => tell({ kind: "unusable", reason: isError(error) ? error.message : String(error) }),
);

/** Sends large bytes ahead of their result: a message is copied several times on its way, as a whole. */
async function tellInPieces(result: TaskResult): Promise<TaskResult> {
  if (!("bytes" in result) || result.bytes.length <= PIECE_BYTES) return result;
  const { bytes } = result;
  for (let start = 0; start < bytes.length; start += PIECE_BYTES) {
    await tell({ kind: "piece", bytes: bytes.subarray(start, start + PIECE_BYTES) });
  }
  return { ...result, bytes: Buffer.alloc(0) };
}

/** Loads sharp with only those of libvips' loaders that originals need, each of which reads from memory only; TIFF is what a
 * PSD is made into. */
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

/** Resolves when the message is out of this process, or cannot be sent any more. */
function tell(message: WorkerMessage<TaskResult>): Promise<void> {
  return new Promise((resolve) => {
    process.send?.(message, undefined, {}, () => resolve());
  });
}

/**
 * Gives every thread of this process the priority of its first one. On Linux a priority is a thread's: those that Node had
 * started before the parent could lower it have their own.
 */
function alignThreadPriorities(): void {
  try {
    const priority = getPriority();
    for (const thread of readdirSync("/proc/self/task")) setPriority(Number(thread), priority);
  } catch {
    // No such files, or a thread that has just ended: what is left is less polite, and works as well.
  }
}
