/**
 * Entry of the process that decodes pictures. It gets bytes and returns bytes over one pipe, opens no file of the host,
 * keeps no state, and may be killed at any moment. `worker/` and the host's files import `shared/`, never each other.
 */

import { type ConnectOpts, Socket, type SocketConstructorOpts } from "node:net";
import { isError, isServiceError } from "@outrigger/core/values";
import { type Frame, FrameReader, frameHead } from "../shared/frames.ts";
import { type Admitted, PIPE, type Task, type Usage, type WorkerMessage } from "../shared/wire.ts";
import { saysOutOfMemory } from "./libvips.ts";

/** A reply with its bytes. */
interface Reply {
  result: Admitted | null;
  bytes: Buffer;
}

process.title = "outrigger-render";
const performer = loadPerformer();
const reader = new FrameReader(Number.POSITIVE_INFINITY, {
  maxBytes: () => Number.POSITIVE_INFINITY,
  onFrame: (frame) => void perform(frame),
});
// `onread`, which the type lacks, saves a copy of the picture.
const options: SocketConstructorOpts & ConnectOpts = {
  fd: PIPE,
  onread: { buffer: () => reader.space(), callback: take },
};
const pipe = new Socket(options);
// The host has exited. process.exit would wait for libvips, which may work on a picture for minutes.
pipe.on("close", () => process.kill(process.pid, "SIGKILL"));
pipe.on("error", () => undefined);
pipe.resume();
performer.then(
  () => send({ kind: "ready" }),
  (error: unknown) => send({ kind: "unusable", reason: isError(error) ? error.message : String(error) }),
);

/** Takes bytes that the pipe has put into `reader.space()`. */
function take(byteLength: number): boolean {
  reader.took(byteLength);
  return true;
}

async function perform({ message, bytes }: Frame): Promise<void> {
  const before = process.cpuUsage();
  try {
    // Only the host writes to this pipe.
    const reply = await (await performer)(message as Task, bytes);
    send({ kind: "done", result: reply.result, ...usageSince(before) }, reply.bytes);
  } catch (error) {
    send(describeFailure(error, usageSince(before)));
  }
}

/**
 * Loads sharp, which may be missing, with only the libvips loaders that originals need, each reading from memory only.
 * PSD needs the TIFF loader, because its pixels are converted to TIFF. The search for a quality opens two others while it
 * reads its own encodes. `admit.ts` and `render.ts` import sharp, so they load here, too.
 */
async function loadPerformer(): Promise<(task: Task, bytes: Buffer) => Promise<Reply>> {
  const { default: sharp } = await import("sharp");
  sharp.concurrency(1);
  sharp.cache(false);
  sharp.block({ operation: ["VipsForeignLoad"] });
  sharp.unblock({
    operation: ["Jpeg", "Png", "Nsgif", "Svg", "Tiff"].map((loader) => `VipsForeignLoad${loader}Buffer`),
  });
  const [{ admit, describePieces }, { render }] = await Promise.all([
    import("./admit.ts"),
    import("./render.ts"),
  ]);
  return async (task, source) => {
    if (task.kind === "admit") {
      const { cleaned, ...info } = await admit(source, task.type, task.kept, task.limits);
      if (cleaned === null) return { result: { ...info, cleaned }, bytes: Buffer.alloc(0) };
      const { pieces, bytes } = describePieces(source, cleaned);
      return { result: { ...info, cleaned: pieces }, bytes };
    }
    return { result: null, bytes: await render(source, task.type, task.spec, task.limits) };
  };
}

function describeFailure(error: unknown, usage: Usage): WorkerMessage<never> {
  if (isServiceError(error)) {
    const detail = isError(error.cause) ? error.cause.message : "";
    return { kind: "failed", code: error.code, message: error.message, detail, ...usage };
  }
  const { message, stack = "" } = isError(error) ? error : new Error(String(error));
  const code = saysOutOfMemory(error) ? "memory" : "bug";
  return { kind: "failed", code, message, detail: stack, ...usage };
}

function usageSince(before: NodeJS.CpuUsage): Usage {
  const { user, system } = process.cpuUsage(before);
  return { cpuMs: (user + system) / 1000, residentBytes: residentBytes() };
}

/** `null` in a sandbox, which has no `/proc`. The host measures there. */
function residentBytes(): number | null {
  try {
    return process.memoryUsage.rss();
  } catch {
    return null;
  }
}

function send(message: WorkerMessage<Admitted | null>, bytes: Buffer = Buffer.alloc(0)): void {
  pipe.write(frameHead(message, bytes.length));
  if (bytes.length > 0) pipe.write(bytes);
}
