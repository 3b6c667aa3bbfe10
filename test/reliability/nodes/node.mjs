// One node of several on shared storage: an Express app with the image service. Tests suspend and kill it. All nodes log
// their renders and admitted files to one file. Files in a shared directory delay or refuse renders. The operator's commands
// arrive over HTTP. Its one argument is a NodeConfig of node-process.ts.
import { createHash } from "node:crypto";
import { appendFileSync, existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { createImages, ServiceError } from "@outrigger/core";
import { express as mount } from "@outrigger/express";
import { createRenderer } from "@outrigger/imaging";
import { createRedisRateLimiter } from "@outrigger/redis";
import express from "express";
import { announce, endWithParent } from "../../support/host-process.mjs";
import { openStorage } from "./node-storage.mjs";

const { directory, storage, mutant, isShared, creates, processUploads } = JSON.parse(process.argv[2]);
const SECRET = "the same for all nodes, 32 bytes at least";

endWithParent();

function note(event, what) {
  appendFileSync(join(directory, "log"), `${JSON.stringify({ pid: process.pid, event, what })}\n`);
}

async function passGate(name) {
  while (existsSync(join(directory, name))) await delay(20);
}

async function digestOf(source) {
  const bytes = "path" in source ? await readFile(source.path) : source.bytes;
  return createHash("sha256").update(bytes).digest("hex");
}

// A long timeout, because its workers run on a busy machine.
const real = createRenderer({ timeoutMs: 120_000 });
const renderer = {
  ...real,
  async admit(source, ...rest) {
    note("admit", await digestOf(source));
    await passGate("hold-admit");
    return real.admit(source, ...rest);
  },
  async render(source, type, spec, work) {
    note("render", `${spec.format} ${spec.width}`);
    await passGate("hold-render");
    if (existsSync(join(directory, "refuse-render"))) {
      throw new ServiceError("unsupported_media", "This picture is refused for the test.");
    }
    return real.render(source, type, spec, work);
  },
};

const { roles, calls } = openStorage(storage, mutant);
const { url, prefix } = storage.records;
const limiter = isShared ? createRedisRateLimiter({ url, prefix: `${prefix}-limits` }) : undefined;
const images = createImages({
  storage: roles,
  secret: SECRET,
  renderer,
  asyncAfterMs: false,
  sweepEveryMs: false,
  rateLimits: creates === undefined ? false : { creates, reads: false, edits: false, pinFailures: false },
  renderBudget: false,
  rateLimiter: limiter,
  processUploads,
  onError: (error) => note("error", `${error?.stack} ${error?.cause?.stack ?? ""}`),
});

const app = express();
app.use("/img", mount(images));
app.post("/withhold/:id", async (req, res) => {
  await images.withhold(req.params.id, { reason: "For the test" });
  res.sendStatus(204);
});
app.get("/images", async (_req, res) => {
  const found = [];
  for await (const { id, state } of images.list()) found.push({ id, state });
  res.json(found);
});
/** Counts the store calls that named an image. */
app.get("/calls/:id", (req, res) => {
  res.json(calls(req.params.id));
});

const server = createServer(app);
// Longer than any pause of a client, so that no connection closes while a client reuses it.
server.keepAliveTimeout = 120_000;
announce(server, { backlog: 1024 });

process.once("SIGTERM", async () => {
  await images.close();
  await limiter?.close();
  server.close(() => process.exit());
  server.closeAllConnections();
});
