// One of several processes on one storage, with a clock that the test sets, and the operator's commands over HTTP. A
// third argument breaks its store of records, so that the test can prove that it finds the fault.
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { createImages } from "@outrigger/core";
import { nodeListener } from "@outrigger/node";
import { openStorage } from "../../backends/open-storage.mjs";

const [description, clockFile, mutant = "none"] = process.argv.slice(2);

const storage = openStorage(JSON.parse(description));
const store = storage.records ?? storage;
const isRecord = (key) => key.endsWith("/record");

const MUTANTS = {
  none: store,
  // Overwrites records regardless of their revision.
  "unconditional writes": {
    ...store,
    put: (key, body, options = {}) =>
      isRecord(key) && typeof options.ifRevision === "string"
        ? store.put(key, body, {})
        : store.put(key, body, options),
  },
  // Serves cached records, even if another process has changed them.
  "stale records": { ...store, isCurrent: () => true },
  // Acknowledges a deletion, but writes it later.
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
  // Only a directory stores a secret.
  secret: "the same for all processes, 32 bytes",
  rateLimits: false,
  renderBudget: false,
  asyncAfterMs: false,
  sweepEveryMs: false,
  tls: "off",
  now: () => Date.now() + Number(readFileSync(clockFile, "utf8")),
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

const COMMANDS = {
  withhold: (id) => images.withhold(id, { reason: "For the test" }),
  release: (id) => images.release(id),
  sweep: () => images.sweep(),
};

// The process ends with the test, also if that is killed.
process.stdin.resume().on("close", () => process.exit());

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
}).listen(0, "127.0.0.1", () => {
  console.log(`http://127.0.0.1:${server.address().port}`);
});
