// @ts-check
import { createFsBlobStore, createImages } from "@outrigger/core";
import { express as outrigger } from "@outrigger/express";
import { createRenderer } from "@outrigger/imaging";
import { createPages } from "@outrigger/web";
import express from "express";
import { requireUser } from "./auth.js";
import { answerError, answerNotFound } from "./errors.js";
import { notes } from "./notes.js";

/**
 * A notes API, with pictures under /img.
 * @param {{ directory: string, tokens: Map<string, string> }} options Where pictures are kept; user names by token.
 */
export function createApp({ directory, tokens }) {
  const app = express();
  const user = requireUser(tokens);

  // Outrigger: users upload, everybody reads. It stands before the body parser.
  const storage = createFsBlobStore({ directory });
  const renderer = createRenderer();
  const images = createImages({ storage, renderer, pages: createPages() });
  app.post("/img/api/*path", user);
  app.use("/img", outrigger(images));

  app.use(express.json());
  app.use("/notes", notes(user));

  app.use(answerNotFound);
  app.use(answerError);

  return { app, images };
}
