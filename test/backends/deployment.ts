import type { ImageStorage } from "@outrigger/core";
import { createRenderer } from "@outrigger/imaging";
import type { HostName } from "../support/hosts.ts";
import { type Site, startSite } from "../support/service.ts";
import { listKeys, type Place, storesOf } from "./place.ts";

/** Two services on one storage, with one clock that the test sets, and access to the stored data. */
export interface Deployment {
  one: Site;
  other: Site;
  clock: { now: number };
  /** Names of everything stored, in the file system's or server's terms. */
  names(): Promise<string[]>;
  /** The keys that begin with a prefix, in order, as the stores list them. @param prefix all keys if absent */
  keys(prefix?: string): Promise<string[]>;
  /** Closes both services. A second call does nothing. */
  close(): Promise<void>;
}

export async function startDeployment(host: HostName, place: Place): Promise<Deployment> {
  const clock = { now: Date.parse("2026-03-01T12:00:00.000Z") };
  const start = (storage: ImageStorage) =>
    startSite({
      host,
      storage,
      // Two services share two cores.
      renderer: createRenderer({ workers: 1, timeoutMs: 60_000 }),
      secret: "the same for all services, 32 bytes",
      sweepEveryMs: false,
      now: () => clock.now,
    });
  const [one, other] = await Promise.all([start(place.open()), start(place.open())]);
  const own = place.open();
  let closing: Promise<void> | null = null;

  async function close(): Promise<void> {
    await one.close();
    await other.close();
    for (const store of storesOf(own)) await store.close();
  }

  return {
    one,
    other,
    clock,
    names: () => place.names(),
    keys: (prefix = "") => listKeys(own, prefix),
    close() {
      closing ??= close();
      return closing;
    },
  };
}
