// One process that hosts images on a data directory; tests kill it and make its system calls fail. Its renderer accepts
// every file unchanged. A second argument gives its store that fault of mutants.mjs.
import { readdir } from "node:fs/promises";
import { createServer } from "node:http";
import { createFsBlobStore, createImages } from "@outrigger/core";
import { nodeListener } from "@outrigger/node";
import { createMutant } from "./mutants.mjs";

const [directory, mutant = ""] = process.argv.slice(2);
/** How far its clock is ahead while it sweeps. */
let aheadMs = 0;

// The process ends with the test, also if that is killed.
process.stdin.resume().on("close", () => process.exit());

const images = createImages({
  storage: mutant === "" ? createFsBlobStore({ directory }) : createMutant(mutant, directory),
  rateLimits: false,
  renderBudget: false,
  asyncAfterMs: false,
  // A sweep runs only on request of a test.
  sweepEveryMs: false,
  // Files are read without a cache: the tests examine the disk.
  memoryBytes: 0,
  now: () => Date.now() + aheadMs,
  onError: (error) => console.error(error.cause ?? error),
  renderer: {
    build: "none",
    look: () => 1,
    measure: () => null,
    canRender: () => false,
    admit: async () => ({ width: 1, height: 1, pages: 1, cleaned: null }),
    render: () => Promise.reject(new Error("Nothing is rendered here")),
    close: async () => {},
  },
});

// The store gets its identity and secret now, not at a point under test.
await images.ready();
// This starts the thread for file work.
await readdir(directory);
const serveImages = nodeListener(images);
const server = createServer((request, response) => {
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
}).listen(0, "127.0.0.1", () => {
  console.log(`http://127.0.0.1:${server.address().port}`);
});
