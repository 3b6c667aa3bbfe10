import { createHash, randomBytes } from "node:crypto";
import { checkOptions } from "../../core/src/check-options.ts";
import type { BlobStore } from "../../core/src/contracts/blob-store.ts";
import { readAll } from "../../core/src/stores/blob-body.ts";
import { created, type ImageSite } from "../../core/test/image-site.ts";
import { Verification } from "../src/verification.ts";
import {
  VERIFY_RULES,
  type VerifyFinding,
  type VerifyOptions,
  type VerifyReport,
} from "../src/verify-options.ts";

/** The reports and the result of a verification. */
export interface Verified {
  findings: VerifyFinding[];
  report: VerifyReport;
  errors: unknown[];
}

export async function verified(
  site: Pick<ImageSite, "store" | "clock">,
  options: Partial<VerifyOptions> = {},
  now = () => site.clock.now,
): Promise<Verified> {
  const findings: VerifyFinding[] = [];
  const errors: unknown[] = [];
  const report = await verifyAt(now, {
    storage: site.store,
    patienceMs: 100,
    onFinding: (finding) => findings.push(finding),
    onError: (error) => errors.push(error),
    ...options,
  });
  return { findings, report, errors };
}

/** A verification by another clock. */
async function verifyAt(now: () => number, options: VerifyOptions): Promise<VerifyReport> {
  return new Verification(checkOptions("verifyStorage", options, VERIFY_RULES), now).run();
}

/** The findings, as `<problem> <repair>` by key. */
export function problemsOf({ findings }: Verified): Record<string, string> {
  return Object.fromEntries(
    findings.map(({ key, what, repair }) => [key, repair === null ? what : `${what} ${repair}`]),
  );
}

/** Copies all blobs of a store, as a backup does. */
export async function copyOf(store: BlobStore, into: BlobStore): Promise<BlobStore> {
  for (const key of (await store.list("")).keys) {
    const blob = key.startsWith("due-") ? null : await store.get(key);
    if (blob !== null) await into.put(key, await readAll(blob.body));
  }
  return into;
}

/** Creates one image of each kind of damage, and returns the keys that a verification should report. */
export async function damageEverything(site: ImageSite): Promise<Record<string, string>> {
  const { store } = site;
  const create = async () => created(await site.create()).id;
  const keys = { record: `${await create()}/record`, nonsense: `${await create()}/record` };
  const [missing, cut, changed] = [await create(), await create(), await create()];
  const stray = randomBytes(16).toString("base64url");
  const original = (await store.get(`${changed}/original`))?.body;
  const bytes = original === undefined ? Buffer.alloc(0) : await readAll(original);
  await store.put(keys.record, Buffer.from('{"id":"'));
  await store.put(keys.nonsense, randomBytes(300));
  await store.delete(`${missing}/original`);
  await store.put(`${cut}/original`, bytes.subarray(0, 12));
  await store.put(`${changed}/original`, Buffer.concat([bytes.subarray(0, -4), Buffer.from("rot!")]));
  await store.put(`${stray}/original`, bytes);
  await store.put(`${stray}/renditions/x.webp`, Buffer.from("drawn"));
  const name = createHash("sha256").update("a key").digest("hex");
  await store.put(`idempotency/${name}`, Buffer.from("{"));
  return {
    [keys.record]: "damaged-record",
    [keys.nonsense]: "damaged-record",
    [`${missing}/record`]: "missing-original",
    [`${cut}/record`]: "wrong-size",
    [`${changed}/record`]: "wrong-digest",
    [`${stray}/original`]: "orphaned-bytes",
    [`${stray}/renditions/x.webp`]: "orphaned-rendition",
    [`idempotency/${name}`]: "damaged-claim",
  };
}
