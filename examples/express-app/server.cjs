// @ts-check
// The same app from CommonJS: Node 20.19 and later load ES modules by require().
"use strict";

const { createShutdown } = require("@outrigger/express");
const { createApp } = require("./app.js");

const { PORT = "3000", DATA = "./data", NOTES_TOKEN = "" } = process.env;
if (NOTES_TOKEN === "") throw new Error("Set NOTES_TOKEN to the editor's token");

const { app, images, lookup } = createApp({ directory: DATA, tokens: new Map([[NOTES_TOKEN, "editor"]]) });

const server = app.listen(Number(PORT), "127.0.0.1", (error) => {
  if (error) throw error;
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : PORT;
  console.log(`Notes listen on http://127.0.0.1:${port}`);
});

process.once("SIGTERM", createShutdown(server, [images, lookup]));
