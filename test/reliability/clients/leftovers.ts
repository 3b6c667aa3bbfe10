import { setTimeout as delay } from "node:timers/promises";
import { filesBelow, type Target } from "./target.ts";

const DIRECTORIES = ["tmp", "blobs", "due/images"] as const;
type DirectoryName = (typeof DIRECTORIES)[number];

/** The resources that an idle service holds. */
export interface Holdings {
  descriptors: number;
  files: Record<DirectoryName, string[]>;
  errors: number;
}

export async function holdingsOf(target: Target): Promise<Holdings> {
  const [tmp, blobs, due] = await Promise.all([
    filesBelow(target.data, "tmp"),
    filesBelow(target.data, "blobs"),
    filesBelow(target.data, "due/images"),
  ]);
  return {
    descriptors: await target.countDescriptors(),
    files: { tmp, blobs, "due/images": due },
    errors: target.errors().length,
  };
}

/** Holdings that stay the same for this time count as settled. */
const SETTLED_MS = 500;

/** Resolves once the service's holdings no longer change. */
export async function settledHoldings(target: Target): Promise<Holdings> {
  let seen = await holdingsOf(target);
  for (;;) {
    await delay(SETTLED_MS);
    const now = await holdingsOf(target);
    if (JSON.stringify(now) === JSON.stringify(seen)) return now;
    seen = now;
  }
}

/**
 * Resources that the service holds beyond `before`, in words; empty if none. Slow clean-up gets `patienceMs` to finish.
 * @param directories Those to which no other client has added meanwhile.
 */
export async function leftovers(
  target: Target,
  before: Holdings,
  patienceMs: number,
  directories: readonly DirectoryName[] = DIRECTORIES,
): Promise<string[]> {
  const deadline = Date.now() + patienceMs;
  for (;;) {
    // The service may not yet have noticed what its clients did.
    const found = differences(before, await settledHoldings(target), directories, target.errors());
    if (found.length === 0 || Date.now() > deadline) return found;
  }
}

function differences(
  before: Holdings,
  now: Holdings,
  directories: readonly DirectoryName[],
  errors: readonly string[],
): string[] {
  const found: string[] = [];
  for (const name of directories) {
    const known = new Set(before.files[name]);
    const left = now.files[name].filter((path) => !known.has(path));
    if (left.length > 0) found.push(`${left.length} files left in ${name}: ${left.slice(0, 3).join(", ")}`);
  }
  const descriptors = now.descriptors - before.descriptors;
  if (descriptors > 0) found.push(`${descriptors} descriptors more than the ${before.descriptors} before`);
  if (errors.length > before.errors)
    found.push(`errors: ${errors.slice(before.errors, before.errors + 3).join("\n")}`);
  return found;
}
