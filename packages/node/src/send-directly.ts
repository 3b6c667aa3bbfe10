import { ServerResponse } from "node:http";
import type { Readable } from "node:stream";
import { type DirectReadable, isDirectReadable } from "@outrigger/core/stores";
import { createBlockPool } from "./upload/spool-file.ts";

const blocks = createBlockPool(256 * 1024, 8);

/**
 * Sends a body through a reused block, once the body is piped to `res`: of every chunk that a stream emits, garbage of its
 * size would remain. Pipe the body as usual; the pipe then carries only the end and errors.
 *
 * Does nothing for a body without that ability, for a `res` whose `write` was replaced (such as by compression, which may
 * keep the bytes or drop the callback), and if the host pipes the body elsewhere.
 */
export function sendDirectly(res: ServerResponse, body: Readable): void {
  if (!isDirectReadable(body) || !writesItself(res)) return;
  res.once("pipe", (source: Readable) => {
    if (source === body) void sendBlocks(res, body);
  });
}

async function sendBlocks(res: ServerResponse, body: DirectReadable): Promise<void> {
  const block = blocks.borrow();
  // Also awaited when the client disconnects: no read may still fill the block when it is released.
  for (let count = await body.readInto(block); count; count = await body.readInto(block)) {
    // If the connection is lost, the callback gets an error or is never called. The kernel may still hold the block then,
    // so it is left to the garbage collector.
    if (!(await isFlushed(res, block.subarray(0, count)))) return;
  }
  blocks.release(block);
}

/** Resolves to whether the kernel has accepted the bytes. In TLS and HTTP/2 as well, Node calls back only afterwards. */
function isFlushed(res: ServerResponse, bytes: Buffer): Promise<boolean> {
  return new Promise((resolve) => {
    res.write(bytes, (error) => resolve(!error));
  });
}

/** Whether `res.write` is that of Node. */
function writesItself(res: ServerResponse): boolean {
  if (res.write === ServerResponse.prototype.write) return true;
  if (res.req.httpVersionMajor < 2) return false;
  // Not imported: every process would load it, and few use HTTP/2.
  const { Http2ServerResponse } = process.getBuiltinModule("node:http2");
  return res.write === Http2ServerResponse.prototype.write;
}
