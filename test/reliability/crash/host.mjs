// One process that hosts images on a data directory, to be killed and to have its system calls fail. Its renderer takes
// every file as it is. With a second argument its store has that fault of mutants.mjs.
import { readdir } from "node:fs/promises";
import { createServer } from "node:http";
import { createFsBlobStore, createImages } from "@outrigger/core";
import { nodeListener } from "@outrigger/node";
import { createMutant } from "./mutants.mjs";

const [directory, mutant = ""] = process.argv.slice(2);
/** How much later it is while it sweeps. */
let aheadMs = 0;

// Ends with the test, also where that is killed.
process.stdin.resume().on("close", () => process.exit());

const images = createImages({
  storage: mutant === "" ? createFsBlobStore({ directory }) : createMutant(mutant, directory),
  rateLimits: false,
  renderBudget: false,
  asyncAfterMs: false,
  // A pass begins when a test asks for it.
  sweepEveryMs: false,
  // A file is read, not remembered: the tests look at the disk.
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

// The store gets its identity and its secret now, and not at a point of what is tested.
await images.ready();
// From now on there is the thread that does file work.
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
