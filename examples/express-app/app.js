// @ts-check
import { createFsBlobStore, createImages } from "@outrigger/core";
import { express as outrigger } from "@outrigger/express";
import { createRenderer } from "@outrigger/imaging";
import { createPages } from "@outrigger/web";
import express from "express";
import { identifyUser, requireUser } from "./auth.js";
import { authorize } from "./authorize.js";
import { answerError, answerNotFound } from "./errors.js";
import { createAddressLookup } from "./lookup.js";
import { notes } from "./notes.js";
import { users } from "./users.js";

/**
 * A notes API, with pictures under /img. Close `images` and `lookup` after the last reply.
 * @param {{ directory: string, tokens: Map<string, string> }} options Where pictures are kept; user names by token.
 */
export function createApp({ directory, tokens }) {
  const app = express();
  app.use(identifyUser(tokens));

  // Outrigger: users upload, everybody reads. It stands before the body parser.
  const storage = createFsBlobStore({ directory });
  const renderer = createRenderer();
  // Notes and users keep pictures, so these never expire unless a client asks for a date.
  const lifetimes = { defaultLifetimeMs: null, maxLifetimeMs: null };
  const images = createImages({ storage, renderer, pages: createPages(), authorize, ...lifetimes });
  app.post("/img/api/*path", requireUser);
  app.use("/img", outrigger(images));

  app.use(express.json());
  app.use("/notes", notes(requireUser));
  const lookup = createAddressLookup();
  app.use("/users", users({ images, lookup, tokens, requireUser }));

  app.use(answerNotFound);
  app.use(answerError);

  return { app, images, lookup };
}
