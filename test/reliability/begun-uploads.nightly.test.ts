// Nightly: bounds how long an upload waits for a node that processes, so it needs a quiet machine.
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Servers, startServers } from "../backends/servers.ts";
import { amount, isSoak } from "../support/soak.ts";
import { begunUploads } from "./nodes/begun-uploads.ts";
import { STORAGES } from "./nodes/node-process.ts";

const UPLOADS = 8;
const ROUNDS = amount(1, 10);

let servers: Servers;
beforeAll(async () => {
  servers = await startServers(STORAGES);
});
afterAll(() => servers.close());

test.each([...STORAGES, "a directory"] as const)(
  "a node begins within 2 s an upload that a node without processing accepted, with records in S3 within 30 s, on %s",
  async (name) => {
    const isInS3 = name === "S3";
    const count = isInS3 ? UPLOADS : UPLOADS * ROUNDS;
    const longest = Math.max(
      ...(await begunUploads(servers.createStorage(name), { count, isAtOnce: isInS3 })),
    );
    expect(longest).toBeLessThan(isInS3 ? 30_000 : 2000);
    if (isSoak) console.log(`${name}: begun after at most ${Math.round(longest)} ms`);
  },
);
