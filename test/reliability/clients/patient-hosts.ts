import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import express5 from "express";
import Koa3 from "koa";
import type { Host } from "../../support/hosts.ts";

/** Apps that send a picture through their framework and wait for clients without limit. */
const LISTENERS = {
  Express(picture) {
    const app = express5();
    app.get("/", (_req, res) => {
      res.end(picture);
    });
    return app;
  },
  Koa(picture) {
    const app = new Koa3();
    app.use((ctx) => {
      ctx.body = Readable.from([picture]);
    });
    return app.callback();
  },
} satisfies Record<string, (picture: Buffer) => RequestListener>;

export type PatientHostName = keyof typeof LISTENERS;

export const PATIENT_HOSTS = Object.keys(LISTENERS) as PatientHostName[]; // The keys of the table above.

export async function startPatientHost(name: PatientHostName, picture: Buffer): Promise<Host> {
  const server = createServer(LISTENERS[name](picture));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`; // Listening on TCP.
  return {
    origin,
    base: origin,
    server,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
