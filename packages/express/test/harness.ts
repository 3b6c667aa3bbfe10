import { createRequire } from "node:module";
import type { AdapterHarness } from "@outrigger/testing";
import express5 from "express";
import multer from "multer";
import { serve } from "../../fetch/test/serve.ts";
import { express } from "../src/express.ts";

// Express 4 has no types here; the tests use only functions that it shares with Express 5.
const express4: typeof express5 = createRequire(import.meta.url)("express-4");

export { express4, express5 };

/** A host for the contract: an app of this version of Express with the service at a path. */
export function harnessOf(framework: typeof express5): AdapterHarness {
  return {
    hasHostRoutes: true,
    parsing: ["fields", "files", "nothing left"],
    async start(service, { mountPath, other, parsing }) {
      const app = framework();
      let lastError: unknown;
      if (parsing === "fields") app.use(framework.json(), framework.urlencoded({ extended: true }));
      if (parsing === "files") app.use(multer().any());
      if (parsing === "nothing left") app.use((req, _res, next) => void req.resume().once("end", next));
      if (mountPath === "") app.use(express(service));
      else app.use(mountPath, express(service));
      if (other) app.use("/other", express(other));
      app.get("/host", (_req, res) => void res.send("host"));
      app.use((error: unknown, _req: unknown, res: express5.Response, next: express5.NextFunction) => {
        lastError = error;
        if (res.headersSent) next(error);
        else res.status(500).send("failed");
      });
      return { ...(await serve(app)), lastError: () => lastError };
    },
  };
}
