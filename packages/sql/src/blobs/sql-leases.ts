import { randomBytes } from "node:crypto";
import { checkBlobKey, checkLeaseLength, type LeaseStore } from "@outrigger/core/stores";
import type { BlobConnection } from "./blob-connection.ts";

/** Leases that a process acquires between two deletions of expired ones. */
const CLEAN_EVERY = 100;

/** A lease is a row that expires by the server's clock. Rows of holders that died are deleted an hour later. */
export function createSqlLeases(connection: BlobConnection): LeaseStore {
  const { leases } = connection.tables;
  const EXPIRY = (length: string) => `clock_timestamp() + ${length}::float8 * interval '1 millisecond'`;
  const ACQUIRE = `INSERT INTO ${leases} AS held (key, proof, expires_at) VALUES ($1, $2, ${EXPIRY("$3")})
    ON CONFLICT (key) DO UPDATE SET proof = excluded.proof, expires_at = excluded.expires_at
    WHERE held.expires_at <= clock_timestamp()`;
  const RENEW = `UPDATE ${leases} SET expires_at = ${EXPIRY("$3")}
    WHERE key = $1 AND proof = $2 AND expires_at > clock_timestamp()`;
  const RELEASE = `DELETE FROM ${leases} WHERE key = $1 AND proof = $2`;
  const CLEAN = `DELETE FROM ${leases} WHERE key IN (
    SELECT key FROM ${leases} WHERE expires_at < clock_timestamp() - interval '1 hour'
    LIMIT 1000 FOR UPDATE SKIP LOCKED
  )`;
  let acquired = 0;

  return {
    async acquireLease(key, leaseMs) {
      checkBlobKey(key);
      checkLeaseLength(leaseMs);
      if (acquired++ % CLEAN_EVERY === 0) await connection.run(CLEAN, []);
      const proof = randomBytes(12).toString("base64url");
      return (await connection.run(ACQUIRE, [key, proof, leaseMs])) === 1 ? proof : null;
    },

    async renewLease(key, proof, leaseMs) {
      checkBlobKey(key);
      checkLeaseLength(leaseMs);
      return (await connection.run(RENEW, [key, proof, leaseMs])) === 1;
    },

    async releaseLease(key, proof) {
      checkBlobKey(key);
      await connection.run(RELEASE, [key, proof]);
    },
  };
}
