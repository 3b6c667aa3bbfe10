import { examine } from "./examine.ts";
import { remove, sha256 } from "./image-client.ts";
import { blobsIn, idsIn } from "./left-overs.ts";
import { sweepAhead } from "./sweep-operation.ts";
import type { Clients, Entry } from "./writers.ts";

/** Number of live images kept over a kill, and of gone images examined again after each kill. */
const MAX_LIVING = 24;
const GONE_SAMPLE = 12;

/** Compares the clients' knowledge with the service after a crash, then updates it with the findings. */
export async function verifyEntries(
  base: string,
  clients: Clients,
  entries: readonly Entry[],
): Promise<void> {
  for (const entry of entries) {
    const { versions, states, content } = entry;
    const found = await examine(base, { id: entry.key.id, contents: [content], versions, states });
    clients.violations.push(...found.violations);
    if (found.state !== null) entry.states = [found.state];
    if (found.version !== null) entry.versions = [found.version];
  }
}

/** The images to examine at one moment: all that may be alive, and some that are gone. */
export function sampleOf({ entries }: Clients): Entry[] {
  const gone = entries.filter(isGone);
  const start = Math.floor(Math.random() * Math.max(1, gone.length - GONE_SAMPLE));
  return [...entries.filter((entry) => !isGone(entry)), ...gone.slice(start, start + GONE_SAMPLE)];
}

/** Deletes the oldest images, so that long runs need as little room as short ones. */
export async function trim(base: string, clients: Clients): Promise<void> {
  const living = clients.entries.filter((entry) => !isGone(entry));
  for (const entry of living.slice(0, Math.max(0, living.length - MAX_LIVING))) {
    const answer = await remove(base, entry.key);
    if (answer?.status !== 204) clients.violations.push(`a delete was answered with ${answer?.status}`);
    entry.states = ["gone"];
  }
}

/**
 * Examines stored images that were never acknowledged: each is whole or absent.
 * @param known IDs already examined; this adds to them.
 */
export async function verifyUnacknowledged(
  base: string,
  directory: string,
  { clients, pictures, known }: { clients: Clients; pictures: readonly Buffer[]; known: Set<string> },
): Promise<void> {
  for (const { key } of clients.entries) known.add(key.id);
  for (const id of await idsIn(directory)) {
    if (known.has(id)) continue;
    known.add(id);
    const found = await examine(base, {
      id,
      contents: pictures.map(sha256),
      versions: null,
      states: ["alive", "absent"],
    });
    clients.violations.push(...found.violations);
  }
}

/** Sweeps, and reports files of images that are not alive. A deleted image keeps only its record. */
export async function verifySwept(base: string, directory: string): Promise<string[]> {
  const answer = await sweepAhead(base);
  if (answer?.status !== 204) return [`the sweep answers ${answer?.status}`];
  const violations: string[] = [];
  const files = await blobsIn(directory);
  const recorded = new Set(files.filter(({ part }) => part === "record").map(({ id }) => id));
  for (const { id, part } of files) {
    if (!recorded.has(id)) violations.push(`${id}/${part} is left of an image without a record`);
  }
  for (const { id } of files.filter(({ part }) => part === "original")) {
    const { state } = await examine(base, { id, contents: [], versions: null, states: [] });
    if (state !== "alive") violations.push(`${id}/original is left of an image that is ${state}`);
  }
  return violations;
}

function isGone({ states }: Entry): boolean {
  return states.length === 1 && states[0] === "gone";
}
