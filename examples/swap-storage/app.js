// @ts-check
import { createImages } from "@outrigger/core";
import { openStorage } from "@outrigger/core/stores";
import { express as outrigger } from "@outrigger/express";
import { createRenderer } from "@outrigger/imaging";
import { createPages } from "@outrigger/web";
import express from "express";
import { readSecret } from "./secret.js";

/**
 * Pictures under /img, and nothing else.
 * @param {{ storage: string, secretFile: string | undefined }} options
 */
export async function createApp({ storage, secretFile }) {
  const secret = readSecret(secretFile);
  const images = createImages({
    storage: await openStorage(storage),
    renderer: createRenderer(),
    pages: createPages(),
    ...(secret === undefined ? {} : { secret }),
  });
  const app = express();
  app.use("/img", outrigger(images));
  return { app, images };
}
