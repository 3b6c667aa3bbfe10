// One node of several on shared storage: an Express app with the image service, for tests that suspend and kill it. It
// logs renders and admissions to a file that all nodes share. Gate files in a shared directory delay renders or refuse
// them. The operator's commands come over HTTP. Its one argument is a NodeConfig of node-process.ts.
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
import { createBullMqJobQueue } from "@outrigger/redis/bullmq";
import express from "express";
import { openStorage } from "./node-storage.mjs";

const { directory, storage, mutant, shared, creates, hasQueue, processUploads } = JSON.parse(process.argv[2]);
const SECRET = "the same for all nodes, 32 bytes at least";

// The process ends with the test, also if that is killed.
process.stdin.resume().on("close", () => process.exit());

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

// Other programs take part of a busy machine's time from its workers.
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
const limiter = shared === undefined ? undefined : createRedisRateLimiter(shared);
const images = createImages({
  storage: roles,
  secret: SECRET,
  renderer,
  asyncAfterMs: false,
  sweepEveryMs: false,
  rateLimits: creates === undefined ? false : { creates, reads: false, edits: false, pinFailures: false },
  renderBudget: false,
  rateLimiter: limiter,
  jobQueue: hasQueue ? createBullMqJobQueue(shared) : undefined,
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
/** How many calls of the stores have named an image. */
app.get("/calls/:id", (req, res) => {
  res.json(calls(req.params.id));
});

const server = createServer(app);
// Prevents the server from closing a connection just as a client reuses it.
server.keepAliveTimeout = 120_000;
server.listen({ port: 0, host: "127.0.0.1", backlog: 1024 }, () => {
  console.log(`http://127.0.0.1:${server.address().port}`);
});

process.once("SIGTERM", async () => {
  await images.close();
  await limiter?.close();
  server.close(() => process.exit());
  server.closeAllConnections();
});
