import type { ChildProcess } from "node:child_process";
import type { Socket } from "node:net";
import type { RenderSource } from "@outrigger/core/images";
import { createFrameReader, type Frame, frameHead } from "../shared/frames.ts";
import { PIPE, type WorkerMessage } from "../shared/wire.ts";
import type { OpenSource } from "./source-file.ts";

/** Bytes of a message without those that come with it. The longest has a thousand ranges. */
const MAX_MESSAGE_BYTES = 256 * 1024;

/** A task with its bytes. */
export interface Request<Result> {
  /** The message to the worker. */
  task: object;
  /** The bytes that come with it. */
  source: RenderSource;
  /** Verifies the reply. If it throws, the worker is killed. */
  read(reply: unknown, bytes: Buffer, sourceBytes: number): Result;
}

/** What becomes of the frames of a process. */
export interface PipeEvents {
  /** Bytes that may come with the next message. */
  maxBytes(): number;
  onFrame(frame: Frame): void;
  /** Called when a frame is invalid or `onFrame` throws. */
  onInvalid(cause: unknown): void;
}

/** Calls `events` for the frames of a worker. */
export function readPipe(child: ChildProcess, events: PipeEvents): void {
  const limits = { messageBytes: MAX_MESSAGE_BYTES, bytes: () => events.maxBytes() };
  const reader = createFrameReader(limits, (frame) => events.onFrame(frame));
  const pipe = pipeOf(child);
  pipe.on("data", (chunk: Buffer) => {
    try {
      for (let at = 0; at < chunk.length; ) {
        const copied = chunk.copy(reader.space(), 0, at);
        reader.took(copied);
        at += copied;
      }
    } catch (cause) {
      pipe.removeAllListeners("data").resume();
      events.onInvalid(cause);
    }
  });
  // The process has ended or is about to.
  pipe.on("error", () => undefined);
}

/** Sends a task and its bytes. Rejects when the source cannot be read, or the process does not take all. */
export async function sendTask(child: ChildProcess, task: object, source: OpenSource): Promise<void> {
  const pipe = pipeOf(child);
  const write = (bytes: Uint8Array) =>
    new Promise<void>((resolve, reject) => {
      pipe.write(bytes, (error) => (error ? reject(error) : resolve()));
    });
  await write(frameHead(task, source.length));
  for await (const chunk of source.chunks(0, source.length)) await write(chunk);
}

/** Decides whether a worker keeps this process alive. */
export function keepHostAlive(child: ChildProcess | undefined, on: boolean): void {
  if (child === undefined) return;
  const method = on ? "ref" : "unref";
  child[method]();
  pipeOf(child)[method]();
  // Node opens this pipe as a socket, too.
  (child.stderr as Socket | null)?.[method]();
}

function pipeOf(child: ChildProcess): Socket {
  // Opened by `startProcess`, as a socket.
  return child.stdio[PIPE] as Socket;
}

/** The faults of a picture, and of the process itself. A worker reports no other. */
const CODES = ["bad_request", "unsupported_media", "too_costly", "not_implemented", "memory", "bug"] as const;

/**
 * Verifies the form of a message, except that of a result. A decoder may be under control of the file that it read.
 * Throws for any other value.
 */
export function readMessage(given: unknown): WorkerMessage<unknown> {
  const fields: Record<string, unknown> = typeof given === "object" && given !== null ? { ...given } : {};
  const { kind, result } = fields;
  if (kind === "ready") return { kind };
  if (kind === "unusable") return { kind, reason: text(fields.reason) };
  const usage = {
    cpuMs: amount(fields.cpuMs),
    residentBytes: fields.residentBytes === null ? null : amount(fields.residentBytes),
  };
  if (kind === "done") return { kind, result, ...usage };
  const code = CODES.find((each) => each === fields.code);
  if (kind !== "failed" || code === undefined) throw invalid();
  return { kind, code, message: text(fields.message), detail: text(fields.detail), ...usage };
}

function text(given: unknown): string {
  if (typeof given !== "string") throw invalid();
  return given;
}

function amount(given: unknown): number {
  if (typeof given !== "number" || !(given >= 0)) throw invalid();
  return given;
}

function invalid(): Error {
  return new Error("A render process sent an invalid message");
}
