import { isLocalStore } from "../../contracts/blob-store.ts";
import { createDueList } from "../../stores/due-list.ts";
import { NameIndex } from "../../stores/name-index.ts";
import { countOwned, idsOwned, OWNED_INDEX } from "../owners/owned-images.ts";
import { createOwnerUsage } from "../owners/owner-usage.ts";
import type { ImageRecord } from "../record/image-record.ts";
import { ImageRecords } from "../record/image-records.ts";
import { createReadLeases } from "../record/read-leases.ts";
import type { StorageRoles } from "../record/storage-roles.ts";
import type { StoreGuard } from "../store/store-guard.ts";
import { Claims } from "../uploads/claims.ts";
import { createSeenClock, type SeenClock } from "./clock-guard.ts";
import type { LifeContext } from "./life-context.ts";

/**
 * Creates the parts that manage the life of images, over the store of the records.
 * @param holdsOriginals Whether that is also the store of the originals. An observer makes two objects of one store.
 */
export function createLife(
  { records: store, originals }: StorageRoles,
  settings: LifeContext["settings"],
  guard: StoreGuard,
  removeBytes: (id: string) => Promise<void>,
  holdsOriginals = originals === store,
): { life: LifeContext; claims: Claims; seenClock: SeenClock } {
  const { readLeaseMs: leaseMs, now, onError } = settings;
  const leases = createReadLeases({ store, leaseMs, now, onError });
  const owned = new NameIndex(store, OWNED_INDEX);
  const addOwned = async (record: ImageRecord) => {
    if (record.owner !== null) await owned.add(record.owner.name, record);
  };
  const records = new ImageRecords({
    store,
    confirm: () => guard.confirm(),
    holdsOriginals,
    leases,
    addOwned,
  });
  const owners = createOwnerUsage({
    store,
    index: owned,
    now: settings.now,
    isOwned: async (owner, id) => (await records.loadUnconfirmed(id))?.record.owner?.name === owner,
    count: (owner, isMissing) =>
      countOwned(records, owner, isMissing ? idsOwned(owned, owner) : records.ids(), settings.now),
    onError: settings.onError,
  });
  const isLocal = isLocalStore(store);
  const due = createDueList(store, "images");
  const removeConfirmed = async (id: string) => {
    // A volume that is away for a while comes back with the bytes that a removal does not find now.
    await guard.confirmBytes();
    await removeBytes(id);
  };
  const life = {
    settings,
    guard,
    records,
    isLocal,
    due,
    owned,
    addOwned,
    owners,
    removeBytes: removeConfirmed,
  };
  const claims = new Claims({ store, due: createDueList(store, "claims"), records, now, onError });
  return { life, claims, seenClock: createSeenClock(createDueList(store, "clock")) };
}
