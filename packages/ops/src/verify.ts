import { checkOptions } from "@outrigger/core/stores";
import { Verification } from "./verification.ts";
import { VERIFY_RULES, type VerifyOptions, type VerifyReport } from "./verify-options.ts";

/**
 * Compares every record with its bytes (size and SHA-256), and finds bytes without a record. The storage may be in use: a
 * problem is checked twice before it is reported, and an image that ends meanwhile is not a finding.
 *
 * A repair changes only reported keys, by compare-and-set. It reverts neither deletions nor takedowns: an image is restored
 * from the backup if the copy there is intact and no trace shows that the image had ended. Otherwise it is deleted, once all
 * images and originals were checked, and only if that removes few of them (`maxRemovals`). An image that an earlier repair ended
 * because its bytes were missing or damaged is restored from the backup.
 *
 * @returns the report. The storage has no defects left if `defects` equals `repaired`.
 * @throws TypeError for an option out of range. ServiceError `store_unavailable` if a store is unavailable for longer than
 * `patienceMs`, `no_space` if a repair finds the store full.
 * @example
 * const storage = createFsBlobStore({ directory: "./data" });
 * const { defects } = await verifyStorage({ storage, onFinding: ({ key, what }) => console.log(key, what) });
 */
export async function verifyStorage(given: VerifyOptions): Promise<VerifyReport> {
  return new Verification(checkOptions("verifyStorage", given, VERIFY_RULES), Date.now).run();
}
