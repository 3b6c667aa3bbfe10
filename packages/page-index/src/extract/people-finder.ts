import { isRoleName } from "@outrigger/core/lookup";
import type { Person } from "./found-contact.ts";
import { type NamedPart, Names } from "./page-names.ts";
import type { Occurrence, PageText, Piece } from "./page-text.ts";
import { phoneIn, positionIn } from "./person-fields.ts";

const SMALL = 300;
const MEDIUM = 1500;
const LARGE = 20_000;
/** Elements around an address that are looked at, each with more text than the one in it. */
const MAX_LEVELS = 40;

/** An element around an address that contains no other one. */
interface Container {
  size: number;
  pieces: Piece[];
}

/** Finds the person of an address in the elements around it: a card, an item of a list, a row of a table. */
export class PeopleFinder {
  readonly #page: PageText;
  readonly #names: Names;

  /** @param isFamilyFirst As Hungarian pages write names. */
  constructor(page: PageText, isFamilyFirst: boolean) {
    this.#page = page;
    this.#names = new Names(page, isFamilyFirst);
  }

  /** The person beside an address; without a name for an address of a role. */
  find(occurrence: Occurrence): Person {
    const local = occurrence.value.slice(0, occurrence.value.lastIndexOf("@"));
    const containers = this.#around(occurrence);
    for (const [index, { size, pieces }] of isRoleName(local) ? [] : containers.entries()) {
      const inner = new Set(containers[index - 1]?.pieces);
      const outer = pieces.filter((piece) => !inner.has(piece) || piece.kind?.endsWith("Name"));
      const found = this.#names.best(outer, local, size);
      if (found !== null) return personOf(this.#grown(containers.slice(index), found), found, occurrence.at);
    }
    const small = containers.filter(({ size }) => size <= SMALL);
    // Other lines may be about a person whose address is not readable.
    const own = small.map(({ size, pieces }) => ({
      size,
      pieces: pieces.filter(({ line }) => line === occurrence.line),
    }));
    return personOf([...own, ...small], null, occurrence.at);
  }

  /** The innermost first. */
  #around({ element, value }: Occurrence): Container[] {
    const containers: Container[] = [];
    let around = this.#page.elements[element];
    for (let index = element; around?.address === value && containers.length < MAX_LEVELS; ) {
      const size = around.to - around.from;
      if (size > LARGE) break;
      const pieces = this.#page.piecesOf(index);
      if (pieces.length > (containers.at(-1)?.pieces.length ?? 0)) containers.push({ size, pieces });
      index = around.parent;
      around = this.#page.elements[index];
    }
    return containers;
  }

  /** Of the elements around a name, those without another name. */
  #grown(containers: readonly Container[], { name }: NamedPart): Container[] {
    const hasOther = ({ pieces }: Container) =>
      this.#names.of(pieces).some((other) => other.weight >= 2 && other.name.lastName !== name.lastName);
    const end = containers.findIndex((each, index) => index > 0 && (each.size > MEDIUM || hasOther(each)));
    return containers.slice(0, end === -1 ? undefined : end);
  }
}

/** Inner elements count first. @param at The piece behind the address. */
function personOf(containers: readonly Container[], part: NamedPart | null, at: number): Person {
  const first = (read: (pieces: readonly Piece[]) => string | null) =>
    containers.map(({ pieces }) => read(pieces)).find((text) => text !== null) ?? null;
  return {
    name: part?.name ?? null,
    position: part === null ? null : first((pieces) => positionIn(pieces, part, at)),
    phone: first(phoneIn),
    profiles: part === null ? [] : (containers.at(-1)?.pieces.flatMap(({ url }) => url ?? []) ?? []),
  };
}
