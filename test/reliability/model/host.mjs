// One of several processes on one storage, with a clock that the test sets. The operator's commands arrive over HTTP.
// A third argument breaks its record store, which proves that the test detects such faults.
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { createImages } from "@outrigger/core";
import { nodeListener } from "@outrigger/node";
import { openStorage } from "../../backends/open-storage.mjs";
import { acceptingRenderer, announce, endWithParent } from "../../support/host-process.mjs";

const [description, clockFile, mutant = "none"] = process.argv.slice(2);

const storage = openStorage(JSON.parse(description));
const store = storage.records ?? storage;
const isRecord = (key) => key.endsWith("/record");

const MUTANTS = {
  none: store,
  // Writes records without a comparison of revisions.
  "unconditional writes": {
    ...store,
    put: (key, body, options = {}) =>
      isRecord(key) && typeof options.ifRevision === "string"
        ? store.put(key, body, {})
        : store.put(key, body, options),
  },
  // Treats every cached record as current.
  "stale records": { ...store, isCurrent: () => true },
  // Acknowledges a write 30 ms before it happens.
  "late writes": {
    ...store,
    async put(key, body, options = {}) {
      if (!isRecord(key) || typeof options.ifRevision !== "string") return store.put(key, body, options);
      const info = await store.stat(key);
      setTimeout(() => store.put(key, body, options).catch(() => undefined), 30);
      return { size: body.length, revision: `${info?.revision}` };
    },
  },
};

const broken = MUTANTS[mutant];

const images = createImages({
  storage: "records" in storage ? { ...storage, records: broken } : broken,
  // Only a directory stores its secret.
  secret: "the same for all processes, 32 bytes",
  rateLimits: false,
  renderBudget: false,
  asyncAfterMs: false,
  sweepEveryMs: false,
  tls: "off",
  now: () => Date.now() + Number(readFileSync(clockFile, "utf8")),
  renderer: acceptingRenderer,
});

const COMMANDS = {
  withhold: (id) => images.withhold(id, { reason: "For the test" }),
  release: (id) => images.release(id),
  sweep: () => images.sweep(),
};

endWithParent();

const serve = nodeListener(images);
const server = createServer(async (req, res) => {
  const [, command, id] = /^\/admin\/(\w+)\/?([\w-]*)$/.exec(req.url) ?? [];
  if (command === undefined) return serve(req, res);
  try {
    await COMMANDS[command](id);
    res.writeHead(204).end();
  } catch (error) {
    res.writeHead(error.code === "not_found" ? 404 : 500).end(String(error.stack));
  }
});
announce(server);
