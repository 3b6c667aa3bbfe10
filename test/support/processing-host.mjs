// One of several processes on one data directory. Its renderer takes every file as it is, and writes down which it saw.
import { appendFileSync } from "node:fs";
import { createServer } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { createFsBlobStore, createImages } from "@outrigger/core";
import { nodeListener } from "@outrigger/node";

const [directory, log] = process.argv.slice(2);

const images = createImages({
  storage: createFsBlobStore({ directory }),
  rateLimits: false,
  renderBudget: false,
  renderer: {
    build: "none",
    look: () => 1,
    measure: () => null,
    canRender: () => false,
    async admit(source) {
      appendFileSync(log, `${process.pid} ${source.path}\n`);
      await delay(100);
      return { width: 1, height: 1, pages: 1, cleaned: null };
    },
    render: () => Promise.reject(new Error("Nothing is rendered here")),
    close: async () => {},
  },
});
const server = createServer(nodeListener(images)).listen(0, "127.0.0.1", () => {
  console.log(`http://127.0.0.1:${server.address().port}`);
});
