import { createReadStream } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { pipeline } from "node:stream";
import express from "express";
import { required } from "./kinds.mjs";

/** @import { Mounted, ServerOptions } from "./kinds.mjs" */

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

/** @param {ServerOptions} options @returns {Promise<Mounted>} */
export async function stream(options) {
  const file = required(options, "file");
  const { size } = await stat(file);
  const app = express();
  app.get("/file.jpg", (_req, res, next) => {
    res.setHeader("Content-Type", "image/jpeg");
    res.setHeader("Content-Length", size);
    pipeline(createReadStream(file), res, (error) => {
      if (error) next(error);
    });
  });
  return { listener: app };
}
