// @ts-check
// The same mounting lines in a CommonJS app: Node 20.19 and later load ES modules by require().
"use strict";

const { createFsBlobStore, createImages } = require("@outrigger/core");
const { createShutdown, express: outrigger } = require("@outrigger/express");
const { createRenderer } = require("@outrigger/imaging");
const { createPages } = require("@outrigger/web");
const express = require("express");
const { identifyUser, requireUser } = require("./auth.js");
const { authorize } = require("./authorize.js");
const { answerError, answerNotFound } = require("./errors.js");
const { createAddressLookup } = require("./lookup.js");
const { notes } = require("./notes.js");
const { users } = require("./users.js");

const { PORT = "3000", DATA = "./data", NOTES_TOKEN = "" } = process.env;
if (NOTES_TOKEN === "") throw new Error("Set NOTES_TOKEN to the editor's token");

const app = express();
const tokens = new Map([[NOTES_TOKEN, "editor"]]);
app.use(identifyUser(tokens));

const storage = createFsBlobStore({ directory: DATA });
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

const server = app.listen(Number(PORT), "127.0.0.1", (error) => {
  if (error) throw error;
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : PORT;
  console.log(`Notes listen on http://127.0.0.1:${port}`);
});

process.once("SIGTERM", createShutdown(server, [images, lookup]));
