import { examine } from "./examine.ts";
import { remove, sha256 } from "./image-client.ts";
import { blobsIn, idsIn } from "./left-overs.ts";
import { sweepAhead } from "./sweep-operation.ts";
import type { Clients, Entry } from "./writers.ts";

/** So many living images are kept over a kill; and so many that are gone are looked at again after each. */
const MAX_LIVING = 24;
const GONE_SAMPLE = 12;

/** Compares what clients know with what a service has after a crash. What is found is what they know from then on. */
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

/** Those of a moment to look at: all that may be alive, and some that are gone. */
export function sampleOf({ entries }: Clients): Entry[] {
  const gone = entries.filter(isGone);
  const start = Math.floor(Math.random() * Math.max(1, gone.length - GONE_SAMPLE));
  return [...entries.filter((entry) => !isGone(entry)), ...gone.slice(start, start + GONE_SAMPLE)];
}

/** Deletes the oldest, so that long runs need no more room than short ones. */
export async function trim(base: string, clients: Clients): Promise<void> {
  const living = clients.entries.filter((entry) => !isGone(entry));
  for (const entry of living.slice(0, Math.max(0, living.length - MAX_LIVING))) {
    const answer = await remove(base, entry.key);
    if (answer?.status !== 204) clients.violations.push(`a delete was answered with ${answer?.status}`);
    entry.states = ["gone"];
  }
}

/**
 * Verifies the images that no client got an answer for: each is complete or absent.
 * @param known IDs that have been looked at; this adds to them.
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

/** Sweeps, and tells which files are there of images that do not live. A deleted image is remembered by its record. */
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
