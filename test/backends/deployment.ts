import type { Authorize, ImageStorage, OwnerLimits } from "@outrigger/core";
import { createRenderer } from "@outrigger/imaging";
import type { HostName } from "../support/hosts.ts";
import { type Site, startSite } from "../support/service.ts";
import { listKeys, type Place, storesOf } from "./place.ts";

/** Two services on one place, by one clock that the test moves, and a look into what is kept. */
export interface Deployment {
  one: Site;
  other: Site;
  clock: { now: number };
  /** All that is kept, as the file system or server calls it. */
  names(): Promise<string[]>;
  /** The keys that begin with a prefix, in order, as the stores list them. @param prefix all where it is absent */
  keys(prefix?: string): Promise<string[]>;
  /** Closes both services. A second call does nothing. */
  close(): Promise<void>;
}

/** What users that name themselves by the header `X-User` may have. */
export const ALLOWANCES: Record<string, OwnerLimits> = { anna: { images: 3 }, berta: { bytes: 25_000 } };

const users: Authorize = ({ context }) => {
  const { headers } = context as { headers: Record<string, string | undefined> }; // A request or a Koa context.
  const owner = headers["x-user"];
  if (owner === undefined) return undefined;
  return { owner, limits: ALLOWANCES[owner] ?? {} };
};

export async function startDeployment(host: HostName, place: Place): Promise<Deployment> {
  const clock = { now: Date.parse("2026-03-01T12:00:00.000Z") };
  const start = (storage: ImageStorage) =>
    startSite({
      host,
      storage,
      // There are two of them on two cores.
      renderer: createRenderer({ workers: 1 }),
      secret: "the same for all services, 32 bytes",
      sweepEveryMs: false,
      authorize: users,
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
