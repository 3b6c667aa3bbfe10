import type { RequestListener } from "node:http";
import { Readable } from "node:stream";
import express5 from "express";
import Koa3 from "koa";
import { type Host, serveHost } from "../../support/listen.ts";

/** Apps that send a picture by the functions of their framework, without a time limit for the client. */
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

export function startPatientHost(name: PatientHostName, picture: Buffer): Promise<Host> {
  return serveHost(LISTENERS[name](picture));
}
