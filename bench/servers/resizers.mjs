import express from "express";
import { required } from "./required.mjs";

/** @import { Mounted, ServerOptions } from "./required.mjs" */

/** @param {ServerOptions} options @returns {Promise<Mounted>} */
export async function sharpInExpress(options) {
  const { default: sharp } = await import("sharp");
  const file = required(options, "file");
  const app = express();
  app.get("/resized.jpg", async (req, res) => {
    const bytes = await sharp(file)
      .autoOrient()
      .resize({ width: Number(req.query.width) })
      .jpeg({ quality: 90 })
      .toBuffer();
    res.setHeader("Content-Type", "image/jpeg");
    res.end(bytes);
  });
  return { listener: app };
}

/** @param {ServerOptions} options @returns {Promise<Mounted>} */
export async function ipxInExpress(options) {
  const { createIPX, createIPXNodeServer, ipxFSStorage } = await import("ipx");
  const ipx = createIPX({ storage: ipxFSStorage({ dir: required(options, "directory") }) });
  const app = express();
  app.use("/ipx", createIPXNodeServer(ipx));
  return { listener: app };
}
