import {
  type BlobStore,
  type BulkRemoval,
  hasBulkRemoval,
  hasJointAdoption,
  hasRangeListing,
  isLocalStore,
  type JointAdoption,
  type LocalStore,
  type RangeListing,
} from "../contracts/blob-store.ts";
import { type DueIndex, hasDueIndex } from "../contracts/due-index.ts";
import { hasLeases, type LeaseStore } from "../contracts/lease-store.ts";
import type { Observer, StoreMethod, StoreRole } from "../contracts/observer.ts";
import { hasRecordQueries, type RecordQueries } from "../contracts/record-queries.ts";
import { overlay } from "./overlay.ts";

/**
 * Wraps a store with all its abilities so that its reads and writes are observed. `get`, `stat` and `delete`
 * of a missing key end as `missing`, and so does a lease that another process holds. `removeNamed` counts as
 * one `delete`, `adoptTogether` as one `adopt`, and `listRange` and queries of records as one `list`. Not observed: `isCurrent`, which runs on every request, `localPath` and `localSecret`. A
 * stream body is read after its `get` has ended.
 */
export function observeStore<S extends BlobStore>(store: S, role: StoreRole, observer: Observer): S {
  const observed = <T>(method: StoreMethod, work: () => Promise<T>, outcomeOf?: (result: T) => string) =>
    observer.observe({ kind: "store", role, method }, work, outcomeOf);

  const basics: Partial<BlobStore> = {
    put: (key, body, options) => observed("put", () => store.put(key, body, options)),
    get: (key, options) => observed("get", () => store.get(key, options), foundOrMissing),
    stat: (key) => observed("stat", () => store.stat(key), foundOrMissing),
    delete: (key) => observed("delete", () => store.delete(key), foundOrMissing),
    list: (prefix, options) => observed("list", () => store.list(prefix, options)),
  };
  return overlay(store, {
    ...basics,
    ...(isLocalStore(store) ? { adopt: adoptOf(store) } : {}),
    ...(hasJointAdoption(store) ? { adoptTogether: adoptTogetherOf(store) } : {}),
    ...(hasBulkRemoval(store) ? { removeNamed: removeNamedOf(store) } : {}),
    ...(hasRangeListing(store) ? { listRange: listRangeOf(store) } : {}),
    ...(hasRecordQueries(store) ? queriesOf(store) : {}),
    ...(hasDueIndex(store) ? dueIndexOf(store) : {}),
    ...(hasLeases(store) ? leasesOf(store) : {}),
  });

  function adoptOf(local: LocalStore): LocalStore["adopt"] {
    return (key, path, options) => observed("adopt", () => local.adopt(key, path, options));
  }

  function adoptTogetherOf(local: JointAdoption): JointAdoption["adoptTogether"] {
    return (prefix, blobs, options) => observed("adopt", () => local.adoptTogether(prefix, blobs, options));
  }

  function removeNamedOf(removing: BulkRemoval): BulkRemoval["removeNamed"] {
    return (prefix, names) => observed("delete", () => removing.removeNamed(prefix, names));
  }

  function listRangeOf(ranges: RangeListing): RangeListing["listRange"] {
    return (range, options) => observed("list", () => ranges.listRange(range, options));
  }

  function queriesOf(queries: RecordQueries): Omit<RecordQueries, "recordParts"> {
    return {
      findRecords: (filter, nowMs, cursor) =>
        observed("list", () => queries.findRecords(filter, nowMs, cursor)),
      countRecords: (part, nowMs) => observed("list", () => queries.countRecords(part, nowMs)),
    };
  }

  function dueIndexOf(index: DueIndex): DueIndex {
    return {
      addDue: (list, entry, signal) => observed("addDue", () => index.addDue(list, entry, signal)),
      removeDue: (list, entry) => observed("removeDue", () => index.removeDue(list, entry)),
      listDue: (list, untilMs, limit) => observed("listDue", () => index.listDue(list, untilMs, limit)),
    };
  }

  function leasesOf(leases: LeaseStore): LeaseStore {
    return {
      acquireLease: (key, leaseMs) =>
        observed("acquireLease", () => leases.acquireLease(key, leaseMs), foundOrMissing),
      renewLease: (key, proof, leaseMs) =>
        observed("renewLease", () => leases.renewLease(key, proof, leaseMs), foundOrMissing),
      releaseLease: (key, proof) => observed("releaseLease", () => leases.releaseLease(key, proof)),
    };
  }
}

/** Missing is `null` or `false`, as in the contract. */
function foundOrMissing(result: unknown): string {
  return result === null || result === false ? "missing" : "ok";
}
