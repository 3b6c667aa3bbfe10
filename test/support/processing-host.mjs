// One of several processes on one data directory. Its renderer accepts every file and logs which files it received.
import { appendFileSync } from "node:fs";
import { createServer } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { createFsBlobStore, createImages } from "@outrigger/core";
import { nodeListener } from "@outrigger/node";
import { acceptingRenderer, announce } from "./host-process.mjs";

const [directory, log] = process.argv.slice(2);

const images = createImages({
  storage: createFsBlobStore({ directory }),
  rateLimits: false,
  renderBudget: false,
  renderer: {
    ...acceptingRenderer,
    async admit(source) {
      appendFileSync(log, `${process.pid} ${source.path}\n`);
      await delay(100);
      return { width: 1, height: 1, pages: 1, cleaned: null };
    },
  },
});
announce(createServer(nodeListener(images)));
