import { forEachAtOnce } from "../../async/for-each-at-once.ts";
import type { StoreRole } from "../../contracts/observer.ts";
import { idOfRecord } from "../record/image-record.ts";
import { type Copied, copyBlob } from "./copy-blob.ts";
import { copyPicture } from "./copy-picture.ts";
import { copyRecord } from "./copy-record.ts";
import { keysOfRole } from "./every-key.ts";
import { attempt, type MigrationContext } from "./migration-context.ts";

/** What one passage over the source did, in numbers of keys. */
export interface Passage {
  images: number;
  copied: number;
  unchanged: number;
}

/** Brings what the target lacks, role after role. */
export async function copyAll(context: MigrationContext): Promise<Passage> {
  const { from, roles, retry, concurrency, signal, progress, tell } = context;
  const passage: Passage = { images: 0, copied: 0, unchanged: 0 };
  const isCounted = progress.phase === "counting";
  for (const role of roles) {
    if (isCounted) progress.phase = role;
    const keys = keysOfRole(from, role, retry);
    await forEachAtOnce(keys, concurrency, (key) => copyOne(role, key), signal);
  }
  return passage;

  async function copyOne(role: StoreRole, key: string): Promise<void> {
    const copied = await attempt(context, key, () => copierOf(context, role)(key));
    if (copied !== "failed" && copied.outcome !== "missing" && copied.outcome !== "damaged") {
      passage[copied.outcome]++;
      if (idOfRecord(key) !== null) passage.images++;
    }
    if (!isCounted) return;
    progress.keys++;
    tell();
  }
}

function copierOf(context: MigrationContext, role: StoreRole): (key: string) => Promise<Copied> {
  switch (role) {
    case "records":
      return (key) => copyRecord(context, key);
    case "originals":
      return (key) => copyPicture(context, key);
    case "renditions":
      return (key) => copyBlob(context, role, key);
  }
}
