import { mailProberContract } from "@outrigger/testing";
import { test } from "vitest";
import { createMailWorld } from "../test/mail-world.ts";

mailProberContract(test, async () => {
  const world = await createMailWorld();
  const server = await world.mailServer();
  for (const domain of ["one.test", "catchall.test"]) world.route(domain, server.host);
  world.dns.zone["null.test"] = { MX: [[0, "."]] };
  world.dns.zone["silent.test"] = { drops: true };
  return {
    prober: world.prober({ dnsMs: 4000, replyMs: 600_000 }),
    taken: ["alice", "one.test"],
    unknown: ["absent", "one.test"],
    ofAcceptsAll: ["carol", "catchall.test"],
    refusing: ["policy", "one.test"],
    silent: ["tarpit", "one.test"],
    ofNoDomain: ["alice", "missing.test"],
    ofNullMx: ["alice", "null.test"],
    ofNoAnswer: ["alice", "silent.test"],
    close: () => world.close(),
  };
});
