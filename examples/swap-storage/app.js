// @ts-check
import { createImages } from "@outrigger/core";
import { express as outrigger } from "@outrigger/express";
import { createRenderer } from "@outrigger/imaging";
import { createPages } from "@outrigger/web";
import express from "express";
import { readSecret } from "./secret.js";
import { openStorage } from "./storage.js";

/**
 * Pictures under /img, and nothing else.
 * @param {{ storage: string, secretFile: string | undefined }} options
 */
export function createApp({ storage, secretFile }) {
  const secret = readSecret(secretFile);
  const images = createImages({
    storage: openStorage(storage),
    renderer: createRenderer(),
    pages: createPages(),
    ...(secret === undefined ? {} : { secret }),
  });
  const app = express();
  app.use("/img", outrigger(images));
  return { app, images };
}
