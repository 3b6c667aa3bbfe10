import { type ImageState, type Version, wrongBytes } from "./examine.ts";
import { type Answer, ask, bytesUrl, edit, type Key, keyIn, remove, sha256, upload } from "./image-client.ts";
import { versionOf } from "./stored-image.ts";

/** A client's knowledge of an image: acknowledged results, and the possible results of requests without a reply. */
export interface Entry {
  key: Key;
  /** SHA-256 of its bytes, hex. */
  content: string;
  /** More than one while the result of an edit is unknown. */
  versions: Version[];
  /** More than one while the result of a delete is unknown. */
  states: ImageState[];
}

export interface Clients {
  /** All acknowledged images, recorded by their clients. */
  entries: Entry[];
  /** Replies that violate the protocol. */
  violations: string[];
  /** The number of replies received. */
  answers: number;
}

const WRITERS = 4;
const LIFETIME_MS = 12 * 3_600_000;
let names = 0;

/**
 * Runs several clients that create, edit, delete and read until the service stops answering; resolves once all have
 * ended.
 * @param isKilled whether the service has been killed: until then it must answer.
 */
export async function write(
  base: string,
  clients: Clients,
  pictures: readonly Buffer[],
  isKilled: () => boolean,
): Promise<void> {
  const contents = pictures.map(sha256);

  async function client(own: Entry[]): Promise<void> {
    for (;;) {
      const entry = pick(own);
      const answer = entry === undefined || Math.random() < 0.4 ? await create(own) : await use(entry);
      if (answer === null) {
        if (!isKilled()) clients.violations.push("a connection was cut by a running process");
        return;
      }
      clients.answers++;
    }
  }

  async function create(own: Entry[]): Promise<Answer | null> {
    const index = Math.floor(Math.random() * pictures.length);
    const version = versionOf(`picture ${names++}`, LIFETIME_MS);
    const answer = await upload(base, pictures[index] ?? Buffer.alloc(0), { ...version });
    if (answer?.status === 201) {
      const entry: Entry = {
        key: keyIn(answer),
        content: contents[index] ?? "",
        versions: [version],
        states: ["alive"],
      };
      own.push(entry);
      clients.entries.push(entry);
    } else expectStatus(answer, [], "create");
    return answer;
  }

  async function use(entry: Entry): Promise<Answer | null> {
    const choice = Math.random();
    if (choice < 0.3) return change(entry);
    if (choice < 0.5) return discard(entry);
    return readBack(entry);
  }

  /** Deleted images are read too: they must stay gone. */
  async function readBack(entry: Entry): Promise<Answer | null> {
    const answer = await ask(bytesUrl(base, entry.key.id));
    expectStatus(answer, entry.states.includes("gone") ? [410] : [200], "read");
    if (answer !== null) clients.violations.push(...wrongBytes(answer, [entry.content]));
    return answer;
  }

  async function change(entry: Entry): Promise<Answer | null> {
    if (entry.states.includes("gone")) return readBack(entry);
    const version = versionOf(`renamed ${names++}`, LIFETIME_MS);
    entry.versions.push(version);
    const answer = await edit(base, entry.key, { ...version });
    expectStatus(answer, [200], "edit");
    if (answer?.status === 200) entry.versions = [version];
    return answer;
  }

  async function discard(entry: Entry): Promise<Answer | null> {
    const isGone = entry.states.includes("gone");
    entry.states = ["alive", "gone"];
    const answer = await remove(base, entry.key);
    expectStatus(answer, isGone ? [410] : [204], "delete");
    if (answer !== null) entry.states = ["gone"];
    return answer;
  }

  function expectStatus(answer: Answer | null, statuses: readonly number[], what: string): void {
    if (answer === null || statuses.includes(answer.status)) return;
    clients.violations.push(
      `a ${what} was answered with ${answer.status}: ${String(answer.body).slice(0, 200)}`,
    );
  }

  // Each image is changed by one client alone, so the last change is known.
  const shares = Array.from({ length: WRITERS }, (_, index) =>
    clients.entries.filter((_entry, position) => position % WRITERS === index),
  );
  await Promise.all(shares.map(client));
}

function pick<T>(list: readonly T[]): T | undefined {
  return list[Math.floor(Math.random() * list.length)];
}
