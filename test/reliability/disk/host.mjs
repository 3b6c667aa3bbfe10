// The image service on a directory, with a renderer that accepts every file unchanged, in a process of its own.
// Arguments: the directory, and the options of host-process.ts as JSON. Prints its address, then its log and each
// admission.
import { link, open } from "node:fs/promises";
import { createServer } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { createFsBlobStore, createImages, createMemoryRateLimiter } from "@outrigger/core";
import { nodeListener } from "@outrigger/node";

const [directory, json] = process.argv.slice(2);
const { leftOut, aheadMs, admitMs, creates, windowMs, sweepEveryMs, sweepsBlindly } = JSON.parse(json);

function storage() {
  const files = {
    link,
    sync: (file) => file.sync(),
    async syncDirectory(path) {
      const handle = await open(path, "r");
      await handle.sync().finally(() => handle.close());
    },
  };
  if (leftOut in files) files[leftOut] = async () => {};
  const store = createFsBlobStore({ directory }, files);
  if (leftOut !== "changes of records" && leftOut !== "refusals") return store;
  return {
    ...store,
    async put(key, body, options = {}) {
      const isChange = key.endsWith("/record") && typeof options.ifRevision === "string";
      const pretended = { size: body.length, revision: options.ifRevision };
      if (!isChange) return store.put(key, body, options);
      if (leftOut === "changes of records") return pretended;
      return store.put(key, body, options).catch(({ code, cause }) => {
        if (code !== "no_space") throw cause;
        // A revision that matches nothing makes the service read the stored record.
        return { ...pretended, revision: `${options.ifRevision}0` };
      });
    },
  };
}

/** Windows of minutes are too long for a test. */
function rateLimiter() {
  const limiter = createMemoryRateLimiter();
  const shortened = (rule) => ({ ...rule, windowMs });
  return {
    consume: (key, rule, cost) => limiter.consume(key, shortened(rule), cost),
    peek: (key, rule) => limiter.peek(key, shortened(rule)),
    refund: (key, rule, cost) => limiter.refund(key, shortened(rule), cost),
    close: () => limiter.close(),
  };
}

const images = createImages({
  storage: storage(),
  rateLimits: creates === undefined ? false : { creates, reads: false },
  ...(windowMs === undefined ? {} : { rateLimiter: rateLimiter() }),
  memoryBytes: 0,
  sweepEveryMs: sweepsBlindly ? false : sweepEveryMs,
  now: () => Date.now() + aheadMs,
  // The replies show any failure.
  onError: () => {},
  logger: { info: () => {}, warn: (_fields, message) => console.log(message), error: () => {} },
  renderer: {
    build: "none",
    look: () => 1,
    measure: () => null,
    canRender: () => false,
    async admit(source) {
      console.log(`admit ${source.path}`);
      await delay(Math.random() * admitMs);
      return { width: 1, height: 1, pages: 1, cleaned: null };
    },
    render: () => Promise.reject(new Error("Nothing is rendered here")),
    close: async () => {},
  },
});
if (sweepsBlindly) setInterval(() => void images.sweep(), sweepEveryMs);

const server = createServer(nodeListener(images)).listen(0, "127.0.0.1", () => {
  console.log(`http://127.0.0.1:${server.address().port}`);
});
// The process ends with its parent.
process.stdin.on("end", () => process.exit(1)).resume();
