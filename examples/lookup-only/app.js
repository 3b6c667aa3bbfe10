// @ts-check
import { isServiceError } from "@outrigger/core";
import { express as outrigger } from "@outrigger/express";
import express from "express";
import { users } from "./users.js";

/**
 * An app with the email lookup under /people. The app closes the lookup after the last reply.
 * @param {import("@outrigger/core").Lookup} lookup
 */
export function createApp(lookup) {
  const app = express();
  app.use("/people", outrigger(lookup));

  app.use(express.json());
  app.use("/users", users(lookup));

  app.use((req, res) => {
    res.status(404).json({ error: `There is no ${req.path}` });
  });
  app.use(answerError);
  return app;
}

/** @type {import("express").ErrorRequestHandler} */
const answerError = (error, _req, res, next) => {
  const isRefused = isServiceError(error, "bad_request");
  const status = isRefused ? 422 : (error.status ?? 500);
  if (status >= 500) console.error(error);
  if (res.headersSent) next(error);
  else res.status(status).json({ error: status >= 500 ? "Something went wrong" : error.message });
};
