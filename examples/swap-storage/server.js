// @ts-check
import { createShutdown } from "@outrigger/express";
import { createApp } from "./app.js";

// The one line that says where pictures are.
const { STORAGE = "file:./pictures", SECRET_FILE, PORT = "3000" } = process.env;

const { app, images } = await createApp({ storage: STORAGE, secretFile: SECRET_FILE });
await images.ready();

const server = app.listen(Number(PORT), "127.0.0.1", (error) => {
  if (error) throw error;
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : PORT;
  console.log(`Pictures are served on http://127.0.0.1:${port}/img`);
});

process.once("SIGTERM", createShutdown(server, [images]));
