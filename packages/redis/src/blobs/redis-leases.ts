import { randomBytes } from "node:crypto";
import { checkBlobKey, checkLeaseLength, type LeaseStore } from "@outrigger/core/stores";
import { createScript, type RedisConnection } from "../connection/redis-connection.ts";
import type { BlobNames } from "./blob-names.ts";

/** KEYS: the lease. ARGV: its proof, its new length. Returns 1 if it was held with this proof. */
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
 * A lease is a key that holds its proof and expires by the server's clock. If a hung server grants a lease after
 * the call timed out, the lease has no holder and blocks its key until it expires.
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
