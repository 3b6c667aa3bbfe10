// @ts-check
import { createShutdown } from "@outrigger/express";
import { createApp } from "./app.js";
import { openLookup } from "./lookup.js";

const { PORT = "3000", LOOKUP_DATABASE = "file:./lookup.db", LOOKUP_SECRET = "" } = process.env;

const { lookup, importFile, close } = openLookup({ url: LOOKUP_DATABASE, secret: LOOKUP_SECRET });
await lookup.ready();
const { added, unchanged } = await importFile(new URL("contacts.csv", import.meta.url));
console.log(`Contacts: ${added} added, ${unchanged} unchanged`);

const server = createApp(lookup).listen(Number(PORT), "127.0.0.1", (error) => {
  if (error) throw error;
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : PORT;
  console.log(`The lookup listens on http://127.0.0.1:${port}/people`);
});

process.once("SIGTERM", createShutdown(server, [{ close }]));
