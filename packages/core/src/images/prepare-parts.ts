import type { StorageRoles } from "../contracts/blob-store.ts";
import { type BlobStore, isLocalStore } from "../contracts/blob-store.ts";
import type { LeaseStore } from "../contracts/lease-store.ts";
import { hasObservableWaits } from "../contracts/observer.ts";
import { observeStore, safeObserver, watchRenderer } from "../observe/observe-backends.ts";
import type { Checked } from "../option-rules.ts";
import type { Secret } from "../secret-bytes.ts";
import { createFallbackRateLimiter } from "../stores/fallback-rate-limiter.ts";
import { createMemoryRateLimiter } from "../stores/memory/memory-rate-limiter.ts";
import { sweepSystemTemporary } from "../stores/system-temporary.ts";
import type { ImageSettings } from "./image-settings.ts";
import type { IMAGES_RULES } from "./images-options.ts";
import type { OwnerUsage } from "./owners/owner-usage.ts";
import { CONVERTIBLE } from "./record/formats.ts";
import { Pins } from "./record/pin.ts";
import { closeStores, rolesOf } from "./record/storage-roles.ts";
import { AddressSignatures } from "./renditions/address-signatures.ts";
import { RenderGate } from "./renditions/render-gate.ts";
import { RenditionStore } from "./renditions/rendition-store.ts";
import { requireFiles } from "./sendfile.ts";
import { chooseLeases, NO_LEASES_WARNING } from "./store/choose-leases.ts";
import { openStore } from "./store/open-store.ts";
import { choosePieces } from "./store/piece-store.ts";
import { StoreGuard } from "./store/store-guard.ts";
import { type BytesRole, rolesApart, rolesToWatch } from "./store/store-identity.ts";
import { ResumableUploads } from "./uploads/resumable-uploads.ts";
import { UploadLocks } from "./uploads/upload-locks.ts";

/** The parts that the host gave, checked, observed, and shared between clients. */
export type HostParts = ReturnType<typeof prepareParts>;

/** @throws TypeError for a shared storage without `secret`, and for `sendfile` without files. */
export function prepareParts(
  checked: Checked<typeof IMAGES_RULES>,
  { renderBudget, log, onError }: ImageSettings,
) {
  const given = rolesOf(checked.storage);
  requireSecret(checked.secret, given.records);
  requireFiles(checked.sendfile, given.originals);
  requireConversions(checked);
  const pieces = choosePieces(checked.resumable, given);
  // Without a spool of its own, this store receives uploads through the system's temporary directory.
  if (!isLocalStore(given.originals)) sweepSystemTemporary();
  const limiter =
    checked.rateLimiter === undefined
      ? createMemoryRateLimiter()
      : createFallbackRateLimiter(checked.rateLimiter, onError);
  const observer = checked.observer && safeObserver(checked.observer, onError);
  const observed = (role: keyof StorageRoles) =>
    observer === undefined ? given[role] : observeStore(given[role], role, observer);
  for (const store of new Set(Object.values(given))) {
    if (observer !== undefined && hasObservableWaits(store)) store.observeWaits(observer);
  }
  const roles: StorageRoles = {
    records: observed("records"),
    originals: observed("originals"),
    renditions: observed("renditions"),
  };
  const isApart = given.renditions !== given.records && given.renditions !== given.originals;
  const cache = isApart ? new RenditionStore(roles.renditions, onError) : null;
  const { renderer, hide: hideSandbox } = watchRenderer(checked.renderer, { log, onError, observer });
  const isLimited = checked.rateLimits !== false;
  const renders = new RenderGate(renderer, {
    limiter,
    cpuSeconds: renderBudget,
    isLimited,
    observer,
    onError,
  });
  return {
    /** As the host gave them. An observer makes three objects of one store. */
    given,
    roles,
    /** `null`: the renditions are in a store of records or originals, without which nothing is served. */
    cache,
    renderer,
    /** Shares the renderer between clients. */
    renders,
    limiter,
    isLimited,
    pieces,
    observer,
    leases: leasesOf({ ...roles, ...(cache && { renditions: cache.store }) }, log),
    async close() {
      hideSandbox();
      renders.close();
      await closeStores(given);
      await limiter.close();
    },
  };
}

/** @throws TypeError for an upload type that the renderer cannot convert. */
function requireConversions({ convertUploads, renderer }: Checked<typeof IMAGES_RULES>): void {
  const missing = convertUploads.find((name) => renderer.canConvert?.(CONVERTIBLE[name][0]) !== true);
  if (missing === undefined) return;
  const remedy = missing === "heic" ? ": run npm install heic-decode" : "";
  throw new TypeError(
    `createImages: convertUploads names "${missing}", which the renderer cannot convert${remedy}`,
  );
}

/** Checks that there can be a secret, before the first request to the store. */
function requireSecret(secret: Secret | undefined, records: BlobStore): void {
  if (secret === undefined && !isLocalStore(records)) {
    throw new TypeError(
      "secret is required: this storage does not create one. Pass at least 32 random bytes.",
    );
  }
}

/** The lease store of the renditions, chosen once; `null` until the stores answer, and if there is none, which is warned about. */
function leasesOf(roles: StorageRoles, log: ImageSettings["log"]): () => Promise<LeaseStore | null> {
  let chosen: Promise<LeaseStore | null> | null = null;
  const choose = async () => {
    const { place, leases } = await chooseLeases(roles);
    if (place === "none") log.warn({ leases: place }, NO_LEASES_WARNING);
    return leases;
  };
  return () => {
    chosen ??= choose().catch(() => {
      chosen = null; // Until then, each process renders for itself.
      return null;
    });
    return chosen;
  };
}

/** The uploads that arrive in pieces; `null`: they are switched off. */
export function openResumable(
  { pieces, roles, isLimited }: HostParts,
  { maxUploadBytes, now, onError }: ImageSettings,
  owners: OwnerUsage,
): ResumableUploads | null {
  if (pieces === null) return null;
  const { records } = roles;
  // Leases beside the records. A directory has none: there, two writers of one upload write the same bytes.
  const leases = async () => (await chooseLeases({ records, renditions: records })).leases;
  const locks = new UploadLocks(leases, onError);
  return new ResumableUploads({
    store: records,
    owners,
    pieces,
    locks,
    isLimited,
    maxUploadBytes,
    now,
    onError,
  });
}

/** The guard of the stores, and the PINs and signatures that derive from their secret: it is known when the guard is open. */
export interface GuardedStores {
  guard: StoreGuard;
  pins: Pins;
  signatures: AddressSignatures;
}

/** @param alsoOpen Prepares the stores further when they are opened. */
export function guardStores(
  { given, roles, cache }: HostParts,
  settings: ImageSettings,
  secret: Secret | undefined,
  alsoOpen: () => Promise<void>,
): GuardedStores {
  const pins = new Pins();
  const signatures = new AddressSignatures();
  let watched: BytesRole[] = [];
  const guard = new StoreGuard({
    stores: roles,
    async first() {
      const store = await openStore({ ...settings, stores: roles, apart: rolesApart(given), secret });
      await alsoOpen();
      pins.setSecret(store.secret);
      signatures.setSecret(store.secret, store.id);
      watched = rolesToWatch(given, store.isMarked);
      return store.id;
    },
    watched: async () => watched,
    refuseRenditions: (refusal) => cache?.refuse(refusal),
    onError: settings.onError,
    log: settings.log,
  });
  return { guard, pins, signatures };
}
