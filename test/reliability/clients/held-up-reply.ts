import type { Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { setImmediate as turn } from "node:timers/promises";
import { vi } from "vitest";
import { connectTo, until } from "../../../packages/testing/src/adapter/http-client.ts";

const STEP_MS = 5000;

/** A reply that its client does not read, seen from both ends. */
export interface HeldUpReply {
  /** The client's end; it reads nothing until resumed. */
  client: Socket;
  res: ServerResponse;
  isCut(): boolean;
  /** Advances the clock of `setInterval`, which must be Vitest's fake one, and runs all that follows. */
  pass(ms: number): Promise<void>;
}

/** Requests `path` and resolves once all buffers between server and client are full. */
export async function holdUpReply(server: Server, origin: string, path: string): Promise<HeldUpReply> {
  let res: ServerResponse | undefined;
  let isCut = false;
  const onRequest = (_req: unknown, begun: ServerResponse) => {
    res = begun;
    begun.req.socket.once("close", () => {
      isCut = true;
    });
  };
  server.prependOnceListener("request", onRequest);
  const client = await connectTo(origin);
  client.pause();
  client.write(`GET ${path} HTTP/1.1\r\nHost: a.example\r\n\r\n`);
  let lastWritten = -1;
  await until(() => {
    const written = res?.req.socket.bytesWritten ?? 0;
    const isStill = written > 0 && written === lastWritten && (res?.writableLength ?? 0) > 0;
    lastWritten = written;
    return isStill;
  }, "the reply to be held up");
  if (res === undefined) throw new Error("The server received no request");
  return {
    client,
    res,
    isCut: () => isCut,
    async pass(ms) {
      for (let passed = 0; passed < ms; passed += STEP_MS) {
        vi.advanceTimersByTime(STEP_MS);
        for (let turns = 0; turns < 5; turns++) await turn();
      }
    },
  };
}

/** Time until the server cuts a client that reads nothing; `null` if the client is still connected after `maxMs`. */
export async function patienceWithReader(
  { server, origin }: { server: Server; origin: string },
  path: string,
  maxMs: number,
): Promise<number | null> {
  const { client, isCut, pass } = await holdUpReply(server, origin, path);
  try {
    for (let passedMs = 0; passedMs < maxMs; ) {
      await pass(STEP_MS);
      passedMs += STEP_MS;
      if (isCut()) return passedMs;
    }
    return null;
  } finally {
    client.destroy();
  }
}
