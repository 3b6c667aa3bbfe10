import { randomBytes } from "node:crypto";
import type { LeaseStore } from "@outrigger/core";
import { checkBlobKey, checkLeaseLength } from "@outrigger/core/stores";
import { createScript, type RedisConnection } from "../connection/redis-connection.ts";
import type { BlobNames } from "./blob-names.ts";

/** KEYS: the lease. ARGV: its proof, its new length. Answers 1 if it was held with this proof. */
const renewLease = createScript(`
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])
`);

/** KEYS: the lease. ARGV: its proof. */
const releaseLease = createScript(`
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])
`);

/**
 * Leases as keys that hold their proof and expire by the server's clock. One that a hung server grants after the call was given
 * up is held by nobody for its length.
 */
export function createRedisLeases(connection: RedisConnection, names: BlobNames): LeaseStore {
  return {
    async acquireLease(key, leaseMs) {
      checkBlobKey(key);
      checkLeaseLength(leaseMs);
      const name = names.lease(key);
      const proof = randomBytes(12).toString("base64url");
      const reply = await connection.call(name, ["SET", name, proof, "NX", "PX", String(leaseMs)]);
      return reply === null ? null : proof;
    },

    async renewLease(key, proof, leaseMs) {
      checkBlobKey(key);
      checkLeaseLength(leaseMs);
      return (await connection.run(renewLease, [names.lease(key)], [proof, String(leaseMs)])) === 1;
    },

    async releaseLease(key, proof) {
      checkBlobKey(key);
      await connection.run(releaseLease, [names.lease(key)], [proof]);
    },
  };
}
