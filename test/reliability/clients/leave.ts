import type { Socket } from "node:net";

/** How a client ends a connection: in good order, or not. */
export const WAYS = ["FIN", "RST"] as const;
export type Way = (typeof WAYS)[number];

/** Ends the connection, and resolves when it is closed on this side. */
export async function leave(socket: Socket, way: Way): Promise<void> {
  if (socket.closed) return;
  const closed = new Promise((resolve) => socket.once("close", resolve));
  if (way === "FIN") socket.destroy();
  else socket.resetAndDestroy();
  await closed;
}

/** Runs `body` for 0 to `count` - 1, so many at a time. */
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
