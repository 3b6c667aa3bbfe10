// @ts-check
import { randomBytes } from "node:crypto";
import { createShutdown } from "@outrigger/express";
import { createApp } from "./app.js";

const { PORT = "3000", DATA = "./data", NOTES_TOKEN = randomBytes(16).toString("hex") } = process.env;

const { app, images, lookup } = createApp({ directory: DATA, tokens: new Map([[NOTES_TOKEN, "editor"]]) });

const server = app.listen(Number(PORT), "127.0.0.1", (error) => {
  if (error) throw error;
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : PORT;
  console.log(`Notes listen on http://127.0.0.1:${port}`);
  if (process.env.NOTES_TOKEN === undefined) console.log(`The editor's token is ${NOTES_TOKEN}`);
});

process.once("SIGTERM", createShutdown(server, [images, lookup]));
