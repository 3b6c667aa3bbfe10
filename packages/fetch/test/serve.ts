import { once } from "node:events";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Service } from "@outrigger/core";

/** A listening server, closed once its connections have ended. */
export interface Served {
  origin: string;
  close(): Promise<void>;
}

/** Lets a server of a framework listen on a free port of 127.0.0.1. */
export async function serve(app: { listen(port: number, host: string): Server }): Promise<Served> {
  const server = app.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => new Promise((resolve) => void server.close(() => resolve())),
  };
}

/** Serves an app while `body` runs. */
export async function withApp(
  app: { listen(port: number, host: string): Server },
  body: (origin: string) => Promise<void>,
): Promise<void> {
  const { origin, close } = await serve(app);
  try {
    await body(origin);
  } finally {
    await close();
  }
}

/** A service that records where it is mounted, and what it is asked for. */
export function recording(seen: unknown[]): Service {
  return {
    async handle({ mountPath, path, search }) {
      seen.push({ mountPath, path, search });
      return { status: 204, headers: {} };
    },
  };
}
