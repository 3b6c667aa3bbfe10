// The image service and the lookup in one process, which is started with a small heap. `GET /delay` returns the longest time
// since the last such request in which this process computed without a turn of its event loop, in milliseconds of CPU time:
// elapsed time would count other processes of the machine.
import { createServer } from "node:http";
import {
  createFsBlobStore,
  createImages,
  createLookup,
  createMemoryAccounts,
  createMemoryContactSource,
  createMemorySuppressionList,
} from "@outrigger/core";
import { nodeListener } from "@outrigger/node";
import { acceptingRenderer, announce, endWithParent } from "./host-process.mjs";

const [directory] = process.argv.slice(2);

const images = createImages({
  storage: createFsBlobStore({ directory }),
  renderer: acceptingRenderer,
  rateLimits: false,
  importUrls: true,
});
const lookup = createLookup({
  contacts: createMemoryContactSource(),
  accounts: createMemoryAccounts(),
  suppressions: createMemorySuppressionList(),
  secret: "0123456789abcdef0123456789abcdef",
  requestsPerSecond: false,
});
const services = [nodeListener(images, { mountPath: "/img" }), nodeListener(lookup)];
let longest = 0;
let since = { ms: performance.now(), cpu: process.cpuUsage() };
setInterval(() => {
  const { user, system } = process.cpuUsage(since.cpu);
  // Other threads compute too, for garbage collection.
  longest = Math.max(longest, Math.min((user + system) / 1000, performance.now() - since.ms));
  since = { ms: performance.now(), cpu: process.cpuUsage() };
}, 5);

endWithParent();
announce(
  createServer((req, res) => {
    if (req.url === "/delay") {
      res.end(String(longest));
      longest = 0;
    } else {
      services[req.url.startsWith("/img") ? 0 : 1](req, res);
    }
  }),
);
