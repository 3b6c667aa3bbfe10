// Nightly: cuts the power of file systems of its own, ext4 and XFS.
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { amount } from "../support/soak.ts";
import { workUntil } from "./disk/busy-client.ts";
import { createCrashDisk, type FileSystemType, mountStand } from "./disk/crash-disk.ts";
import { findLosses, type PowerCut } from "./disk/find-losses.ts";
import { type HostOptions, type HostProcess, type StoreCall, startHostProcess } from "./disk/host-process.ts";
import { createLedger } from "./disk/ledger.ts";
import { type Mounts, openMounts, whyNoMounts } from "./disk/mounts.ts";

const trouble = whyNoMounts({ loop: true });
const testWithDisks = test.skipIf(trouble !== null);
const FILE_SYSTEMS = ["ext4", "xfs"] as const;

/** Number of cuts on both file systems together. */
const CUTS = amount(6, 200);
const CUT_MS = 20_000;
/** Cuts within which a store that is not durable must lose something. */
const ENOUGH_CUTS = 8;
/** Clock offset past the leases held at the cut: the restart takes a while. */
const AHEAD_MS = 60_000;

let mounts: Mounts | null = null;
let stand = "";
beforeAll(async () => {
  if (trouble !== null) return;
  mounts = await openMounts();
  stand = await mountStand(mounts);
});
afterAll(async () => {
  await mounts?.close();
});

interface Trial {
  clients: number;
  /** How long the clients work before the cut. */
  workMs: number;
  /** Whether the cut comes at the moment of an acknowledgement. */
  atAcknowledgement: boolean;
  leftOut?: StoreCall;
}

/** Runs clients on a new disk, cuts the power, and examines the recovered data. */
async function tryPowerCut(type: FileSystemType, trial: Trial) {
  if (mounts === null) throw new Error("This machine cannot mount file systems");
  const disk = await createCrashDisk(mounts, stand, type);
  const data = join(disk.directory, "data");
  let isArmed = false;
  let cut: PowerCut | null = null;
  function cutPower(): void {
    isArmed = false;
    const fromMs = performance.now();
    disk.cutPower();
    cut = { fromMs, toMs: performance.now() };
  }
  const ledger = createLedger(() => {
    if (isArmed) cutPower();
  });
  const hosts: HostProcess[] = [];
  const start = async (options: HostOptions) => {
    const host = await startHostProcess(data, options);
    hosts.push(host);
    return host;
  };
  try {
    const host = await start(trial.leftOut === undefined ? {} : { leftOut: trial.leftOut });
    const stop = new AbortController();
    const clients = Array.from({ length: trial.clients }, () => workUntil(stop.signal, host.base, ledger));
    const working = Promise.all(clients);
    await Promise.race([working, delay(trial.workMs)]);
    isArmed = trial.atAcknowledgement;
    if (!isArmed) cutPower();
    while (cut === null) await Promise.race([working, delay(5)]);
    stop.abort();
    await host.kill();
    await working;
    await disk.recover();
    const recovered = await start({ aheadMs: AHEAD_MS });
    const losses = await findLosses(recovered.base, join(data, "blobs"), ledger, cut);
    return { losses, pictures: ledger.entries.length };
  } finally {
    for (const host of hosts) await host.kill();
    await disk.close();
  }
}

describe.each(FILE_SYSTEMS)(`on %s${trouble === null ? "" : ` (${trouble})`}`, (type) => {
  testWithDisks(
    "acknowledged changes survive a power cut, and no partial image remains",
    async () => {
      let pictures = 0;
      for (let cut = 0; cut < CUTS / FILE_SYSTEMS.length; cut++) {
        const trial = {
          clients: 4,
          workMs: 100 + Math.random() * 1500,
          atAcknowledgement: cut % 2 === 0,
        };
        const outcome = await tryPowerCut(type, trial);
        expect(outcome.losses, JSON.stringify(trial)).toEqual([]);
        pictures += outcome.pictures;
      }
      // On a busy machine a cut may come before the first one.
      expect(pictures).toBeGreaterThan(0);
    },
    CUTS * CUT_MS,
  );

  const leftOuts = [
    "sync",
    "syncDirectory",
    "sync /record@/",
    "sync /original@/",
    "syncDirectory /blobs/",
  ] as const;
  testWithDisks.each(leftOuts)(
    "the check finds a store that omits `%s`",
    async (leftOut) => {
      // Work after an acknowledgement may flush data that the store did not.
      for (let cut = 0; cut < ENOUGH_CUTS; cut++) {
        const trial = { clients: 1, workMs: 200, atAcknowledgement: true, leftOut };
        const { losses } = await tryPowerCut(type, trial);
        if (losses.length > 0) return;
      }
      expect.fail("The store lost nothing, so the check found no fault");
    },
    ENOUGH_CUTS * CUT_MS,
  );
});
