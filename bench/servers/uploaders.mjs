import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdir, open, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import express from "express";
import multer from "multer";
import { required } from "./required.mjs";

/** @import { Mounted, ServerOptions } from "./required.mjs" */

/**
 * A careful developer's handler: when the client receives the success, file and record survive a power cut.
 * @param {ServerOptions} options
 * @returns {Promise<Mounted>}
 */
export async function checkedMulter(options) {
  const { default: sharp } = await import("sharp");
  const directory = required(options, "directory");
  const incoming = join(directory, "incoming");
  await mkdir(incoming);
  const app = express();
  const upload = multer({ dest: incoming, limits: { fileSize: 25 * 1024 * 1024 } });
  app.post("/images", upload.single("imagedata"), async (req, res) => {
    const { file } = req;
    if (file === undefined) {
      res.status(400).end();
      return;
    }
    const hash = createHash("sha256");
    await pipeline(createReadStream(file.path), hash);
    const picture = sharp(file.path, { failOn: "warning" });
    const { width, height } = await picture.metadata();
    await picture.resize({ width: 16, height: 16, fit: "fill" }).raw().toBuffer();
    await sync(file.path);
    await rename(file.path, join(directory, `${file.filename}.jpg`));
    await sync(directory);
    const { originalname: name, size } = file;
    const record = { id: file.filename, name, size, sha256: hash.digest("hex"), width, height };
    const temporary = join(incoming, `${file.filename}.json`);
    await writeFile(temporary, JSON.stringify(record), { flush: true });
    await rename(temporary, join(directory, `${file.filename}.json`));
    await sync(directory);
    res.status(201).json(record);
  });
  return { listener: app };
}

/** @param {string} path A file or a directory. */
async function sync(path) {
  const handle = await open(path, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
