// One process that hosts images on a data directory. Tests kill it and let its system calls fail. Its renderer accepts every
// file. A second argument names the fault of mutants.mjs that its store has.
import { readdir } from "node:fs/promises";
import { createServer } from "node:http";
import { createFsBlobStore, createImages } from "@outrigger/core";
import { nodeListener } from "@outrigger/node";
import { acceptingRenderer, announce, endWithParent } from "../../support/host-process.mjs";
import { createMutant, replies } from "./mutants.mjs";

const [directory, mutant = ""] = process.argv.slice(2);
/** How far the clock runs ahead during a sweep. */
let aheadMs = 0;

endWithParent();

const images = createImages({
  storage: mutant === "" ? createFsBlobStore({ directory }) : createMutant(mutant, directory),
  rateLimits: false,
  renderBudget: false,
  asyncAfterMs: false,
  // Only tests start a sweep.
  sweepEveryMs: false,
  // No cache: the tests examine reads from disk.
  memoryBytes: 0,
  now: () => Date.now() + aheadMs,
  onError: (error) => console.error(error.cause ?? error),
  renderer: acceptingRenderer,
});

// The store writes its identity and secret now, before the operation under test.
await images.ready();
// This starts the thread for file work.
await readdir(directory);
const serveImages = nodeListener(images);
const server = createServer((request, response) => {
  response.once("finish", () => replies.emit("sent"));
  const { pathname, searchParams } = new URL(request.url, "http://host");
  if (pathname !== "/sweep") return serveImages(request, response);
  aheadMs = Number(searchParams.get("aheadMs"));
  images
    .sweep()
    .then(
      () => response.writeHead(204).end(),
      (error) => {
        console.error(error);
        response.writeHead(503, { "Retry-After": "1" }).end();
      },
    )
    .finally(() => {
      aheadMs = 0;
    });
});
announce(server);
