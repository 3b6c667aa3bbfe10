// A process with the image service on a directory. Its renderer accepts every file. Arguments: the directory, and a
// HostOptions of host-process.ts as JSON. Prints its address, then its warnings and the files that it admits.
import { fsync, readlinkSync } from "node:fs";
import { link, open } from "node:fs/promises";
import { createServer } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { createFsBlobStore, createImages, createMemoryRateLimiter } from "@outrigger/core";
import { nodeListener } from "@outrigger/node";
import { acceptingRenderer, announce, endWithParent } from "../../support/host-process.mjs";

const [directory, json] = process.argv.slice(2);
const { leftOut, aheadMs, admitMs, creates, windowMs, sweepEveryMs, sweepsBlindly } = JSON.parse(json);

function storage() {
  const files = {
    link,
    sync: promisify(fsync),
    async syncDirectory(path) {
      const handle = await open(path, "r");
      await handle.sync().finally(() => handle.close());
    },
  };
  const [call, where = ""] = leftOut?.split(" ") ?? [];
  if (call in files) {
    const flush = files[call];
    files[call] = async (target) => {
      const path = call === "sync" ? readlinkSync(`/proc/self/fd/${target}`) : target;
      if (!path.includes(where)) await flush(target);
    };
  }
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
        // A revision that no record has makes the service read the record again.
        return { ...pretended, revision: `${options.ifRevision}0` };
      });
    },
  };
}

/** Shortens the windows, which are minutes long by default. */
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
  // The tests see failures in the answers.
  onError: () => {},
  logger: { info: () => {}, warn: (_fields, message) => console.log(message), error: () => {} },
  renderer: {
    ...acceptingRenderer,
    async admit(source) {
      console.log(`admit ${source.path}`);
      await delay(Math.random() * admitMs);
      return { width: 1, height: 1, pages: 1, cleaned: null };
    },
  },
});
if (sweepsBlindly) setInterval(() => void images.sweep(), sweepEveryMs);

announce(createServer(nodeListener(images)));
endWithParent();
