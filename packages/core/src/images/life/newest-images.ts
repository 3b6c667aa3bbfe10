import { forEachAtOnce } from "../../async/for-each-at-once.ts";
import { isSettledWithin } from "../../async/settled-within.ts";
import * as rules from "../../option-rules.ts";
import { hashOfName, type NamedEntry, type NameIndex } from "../../stores/name-index.ts";
import { isImageId } from "../record/image-record.ts";
import type { LifeContext } from "./create-life.ts";
import { isReadable, type Listed, type ListedImage, listedImage, listImages } from "./image-listing.ts";

export const NEWEST_RULES = {
  /** Only images in this state. @default all that live */
  state: rules.oneOf("held", "withheld"),
  /** Only images of this owner. */
  owner: rules.text("the name of an owner", () => true),
  /** These images alone, whatever their state, on one page. */
  ids: rules.texts("a list of image IDs", isImageId),
  /** Only images created earlier, in Unix milliseconds: `next` of the page before. */
  before: rules.whole(0),
  /** Images of a page, 1 to 1000. Images of the same millisecond are never apart. @default 50 */
  limit: rules.preset(50, rules.whole(1, 1000)),
};

/** Which images are listed, newest first. */
export interface NewestFilter extends rules.Options<typeof NEWEST_RULES> {}

/** A page of images, newest first. Dates are Unix milliseconds. */
export interface NewestImages {
  images: ListedImage[];
  /** `before` of the next page; `null`: this is the last one. */
  next: number | null;
  /** The reading of all records on which the page is based. It lacks images that came later. `null`: it is based on an index. */
  reading: { startedAt: number; records: number; isUnderWay: boolean; hasOlder: boolean } | null;
}

type Filter = rules.Checked<typeof NEWEST_RULES>;

const READ_AT_ONCE = 8;
/** Images of which a walk keeps the times. */
const KEPT = 10_000;
/** A caller waits this long for the first walk, and for each later one, as there is an earlier list. */
const FIRST_WAIT_MS = 2_000;
const WAIT_MS = 500;
/** A walk serves for this many times as long as it took. */
const FRESH_FOR = 5;
const HOUR_MS = 3_600_000;
const LIVING: readonly string[] = ["processing", "held", "ready", "withheld"];

/** A reading of all records. */
interface Walk {
  startedAt: number;
  /** When another one is due, by the clock of `performance.now()`; `null`: it is under way. */
  staleAt: number | null;
  read: number;
  found: NamedEntry[];
  /** Whether older images were found than those that are kept. */
  isCut: boolean;
  done: Promise<void>;
}

/**
 * Lists images newest first. Those of a state or an owner come from an index. No store has an index of all images by their date, and
 * another write for each upload would cost more than this list is worth: a walk reads the records in the background, and is shared
 * by all callers.
 */
export class Newest {
  readonly #life: LifeContext;
  /** The walk under way, or the last one. */
  #walk: Walk | null = null;
  #ended: Walk | null = null;

  constructor(life: LifeContext) {
    this.#life = life;
  }

  async page(filter: Filter): Promise<NewestImages> {
    const { owned, marked } = this.#life;
    const { state, owner, ids } = filter;
    if (ids !== undefined) return { images: await this.#load(ids), next: null, reading: null };
    if (state !== undefined) return this.#read(await entriesOf(marked, state), filter, null);
    if (owner !== undefined) return this.#read(await entriesOf(owned, owner), filter, null);
    const walk = await this.#walked();
    return this.#read(newestFirst(walk.found), filter, walk);
  }

  /** Reads the images of a page. The entries may name images that have changed since. */
  async #read(entries: readonly NamedEntry[], filter: Filter, walk: Walk | null): Promise<NewestImages> {
    const { before = Number.POSITIVE_INFINITY, limit } = filter;
    const waiting = entries.filter(({ createdAt }) => createdAt < before);
    const images: ListedImage[] = [];
    let at = 0;
    const isFull = () => images.length >= limit && waiting[at]?.createdAt !== waiting[at - 1]?.createdAt;
    while (at < waiting.length && !isFull()) {
      const batch = waiting.slice(at, at + Math.max(1, Math.min(READ_AT_ONCE, limit - images.length)));
      images.push(...(await this.#load(batch.map(({ id }) => id))).filter((image) => matches(image, filter)));
      at += batch.length;
    }
    const last = waiting[at - 1]?.createdAt;
    const isLast = at >= waiting.length || last === undefined;
    return {
      images: images.sort(byAge),
      next: isLast ? null : last,
      reading: walk && {
        startedAt: walk.startedAt,
        records: walk.read,
        isUnderWay: walk.staleAt === null,
        hasOlder: walk.isCut,
      },
    };
  }

  async #load(ids: readonly string[]): Promise<ListedImage[]> {
    const images: ListedImage[] = [];
    await forEachAtOnce(new Set(ids), READ_AT_ONCE, async (id) => {
      const image = await listedImage(this.#life, id);
      if (isReadable(image)) images.push(image);
    });
    return images.sort(byAge);
  }

  /** The last walk that has ended, or what a longer one has found within some seconds. */
  async #walked(): Promise<Walk> {
    const staleAt = this.#walk === null ? 0 : this.#walk.staleAt;
    const walk =
      this.#walk === null || (staleAt !== null && performance.now() >= staleAt) ? this.#begin() : this.#walk;
    this.#walk = walk;
    const waitMs = this.#ended === null ? FIRST_WAIT_MS : WAIT_MS;
    if (await isSettledWithin(walk.done, waitMs)) await walk.done;
    return walk.staleAt === null ? (this.#ended ?? walk) : walk;
  }

  #begin(): Walk {
    const began = performance.now();
    const startedAt = this.#life.settings.now();
    const walk: Walk = {
      startedAt,
      staleAt: null,
      read: 0,
      found: [],
      isCut: false,
      done: Promise.resolve(),
    };
    walk.done = this.#fill(walk).then(
      () => {
        walk.staleAt = performance.now() + FRESH_FOR * (performance.now() - began);
        this.#ended = walk;
      },
      (error) => {
        if (this.#walk === walk) this.#walk = null;
        throw error;
      },
    );
    // Reported to the callers that wait. After the service is closed, no caller does.
    walk.done.catch(() => undefined);
    return walk;
  }

  async #fill(walk: Walk): Promise<void> {
    const take = (image: Listed) => {
      if (!isReadable(image)) return;
      walk.read++;
      if (!LIVING.includes(image.state)) return;
      walk.found.push({ id: image.id, createdAt: image.createdAt });
      if (walk.found.length < 2 * KEPT) return;
      walk.found = newestFirst(walk.found).slice(0, KEPT);
      walk.isCut = true;
    };
    const { records, settings } = this.#life;
    if (records.queries === null) {
      const read = async (id: string) => take(await listedImage(this.#life, id));
      return forEachAtOnce(records.ids(), READ_AT_ONCE, read);
    }
    // Each span of time is eight times as long as all before it, until enough images are found.
    let createdBefore = Number.MAX_SAFE_INTEGER;
    for (let ageMs = HOUR_MS; walk.found.length < KEPT && createdBefore > 0; ageMs *= 8) {
      const createdFrom = Math.max(0, settings.now() - ageMs);
      for await (const image of listImages(this.#life, { createdFrom, createdBefore })) take(image);
      createdBefore = createdFrom;
    }
    walk.isCut ||= createdBefore > 0;
  }
}

async function entriesOf(index: NameIndex, name: string): Promise<NamedEntry[]> {
  const entries: NamedEntry[] = [];
  for await (const { id, createdAt } of index.list(hashOfName(name))) entries.push({ id, createdAt });
  return newestFirst(entries);
}

/** Without repetitions: a listing may repeat a key, and a restored image may have two entries. */
function newestFirst(entries: readonly NamedEntry[]): NamedEntry[] {
  return [...new Map(entries.map((entry) => [entry.id, entry])).values()].sort(byAge);
}

function byAge(one: NamedEntry, other: NamedEntry): number {
  return other.createdAt - one.createdAt || (one.id < other.id ? -1 : 1);
}

/** Only living images: no more is known of others than their end. */
function matches(image: ListedImage, { state, owner }: Filter): boolean {
  if (owner !== undefined && image.owner !== owner) return false;
  return state === undefined ? LIVING.includes(image.state) : image.state === state;
}
