import { readFile } from "node:fs/promises";
import express from "express";
import { required } from "./required.mjs";

/** @import { Mounted, ServerOptions } from "./required.mjs" */

/** @param {ServerOptions} options @returns {Promise<Mounted>} */
export async function buffer(options) {
  const bytes = await readFile(required(options, "file"));
  const headers = Object.entries(options.headers ?? { "Content-Type": "image/jpeg" });
  const app = express();
  app.get("/file.jpg", (_req, res) => {
    for (const [name, value] of headers) res.setHeader(name, value);
    res.end(bytes);
  });
  return { listener: app };
}

/** @param {ServerOptions} options @returns {Promise<Mounted>} */
export async function staticFiles(options) {
  const app = express();
  app.use(express.static(required(options, "directory")));
  return { listener: app };
}
