import type { Socket } from "node:net";

/** Ways in which a client ends a connection, orderly or not. */
export const WAYS = ["FIN", "RST"] as const;
export type Way = (typeof WAYS)[number];

/** Ends the connection, and resolves once this side is closed. */
export async function leave(socket: Socket, way: Way): Promise<void> {
  if (socket.closed) return;
  const closed = new Promise((resolve) => socket.once("close", resolve));
  if (way === "FIN") socket.destroy();
  else socket.resetAndDestroy();
  await closed;
}

/** Runs `body` for 0 to `count` - 1, with limited concurrency. */
export async function inParallel(
  count: number,
  atOnce: number,
  body: (index: number) => Promise<void>,
): Promise<void> {
  let next = 0;
  const work = async () => {
    while (next < count) await body(next++);
  };
  await Promise.all(Array.from({ length: atOnce }, work));
}
