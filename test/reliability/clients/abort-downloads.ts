import type { Socket } from "node:net";
import { connectTo, within } from "../../../packages/testing/src/adapter/http-client.ts";
import { inParallel, leave, WAYS } from "./leave.ts";

const AT_ONCE = 8;

/** Positions at which a download aborts: the bytes read by then, given the size of the reply. */
const POSITIONS: Readonly<Record<string, (size: number) => number>> = {
  "before the reply": () => 0,
  "in its head": () => 1,
  "early in the picture": () => 100_000,
  "in its middle": (size) => Math.floor(size / 2),
  "near its end": (size) => size - 1000,
};
const CUTS = Object.values(POSITIONS);
/** Requests sent ahead on the same connection, in every second round. */
const SENT_AHEAD = 4;

/** Aborts this many downloads of `url`, which has `size` bytes, cycling through all positions and ways. */
export async function abortDownloads(url: string, size: number, count: number): Promise<void> {
  const { host, pathname, origin } = new URL(url);
  const request = `GET ${pathname} HTTP/1.1\r\nHost: ${host}\r\nUser-Agent: test/1.0\r\n\r\n`;
  await inParallel(count, AT_ONCE, async (index) => {
    const cutAt = CUTS[index % CUTS.length] ?? (() => 0);
    const round = Math.floor(index / CUTS.length);
    const way = WAYS[round % WAYS.length] ?? WAYS[0];
    const ahead = Math.floor(round / WAYS.length) % 2 === 0 ? 0 : SENT_AHEAD;
    const socket = await connectTo(origin);
    socket.write(request.repeat(1 + ahead));
    await within(readBytes(socket, cutAt(size)), `${cutAt(size)} bytes of ${url}`);
    await leave(socket, way);
  });
}

/** Resolves after this many bytes, or at the end; reads no further. */
function readBytes(socket: Socket, count: number): Promise<void> {
  return new Promise((resolve) => {
    let received = 0;
    const done = () => {
      socket.off("data", onData).pause();
      resolve();
    };
    const onData = (chunk: Buffer) => {
      received += chunk.length;
      if (received >= count) done();
    };
    if (count === 0) resolve();
    else socket.on("data", onData).once("close", done);
  });
}
