import { isRoleName } from "@outrigger/core/lookup";
import { Lines, readColumns } from "./blank-line.ts";
import { lowerBound } from "./lower-bound.ts";
import {
  dividedName,
  labelled,
  type NamedPart,
  namesIn,
  type Occurrence,
  type Piece,
  piecesOf,
} from "./page-pieces.ts";
import type { Linked, PageText } from "./page-text.ts";
import { phoneIn, positionIn } from "./person-fields.ts";
import { nameFit, type PersonName } from "./person-names.ts";

/** A part of the page, by its offsets. */
interface Span {
  start: number;
  end: number;
}

export interface Person {
  name: PersonName | null;
  position: string | null;
  phone: string | null;
  profiles: string[];
}

/** Elements of which several make a card. */
const INLINE = /^(?:a|span|b|strong|em|i|u|font|small|h[1-6]|dt|p)$/;
const SMALL = 300;
const MEDIUM = 1500;
const LARGE = 20_000;
/** Elements around an address that are looked at, each with more text than the one in it. */
const MAX_LEVELS = 40;
/** Links beside an address. */
const MAX_LINKS = 50;

/** Finds what stands beside the addresses of a page. */
export class PeopleFinder {
  readonly #page: PageText;
  readonly #pieces: Piece[];
  /** Without those that stand aside, by element; and by place. */
  readonly #byElement: readonly Occurrence[];
  readonly #byPlace: readonly Occurrence[];
  /** For each by element, the index of the next with another address. */
  readonly #runEnds: number[] = [];
  readonly #isFamilyFirst: boolean;
  readonly #lines: Lines;

  constructor(page: PageText, occurrences: readonly Occurrence[], topLevel: string) {
    this.#page = page;
    this.#isFamilyFirst = /^hu\b/.test(page.language || topLevel);
    this.#byPlace = occurrences.filter(({ isAside }) => !isAside).toSorted((one, other) => one.at - other.at);
    this.#byElement = this.#byPlace.toSorted((one, other) => one.element - other.element);
    for (let index = this.#byElement.length - 1; index >= 0; index--) {
      const isSame = this.#byElement[index]?.value === this.#byElement[index + 1]?.value;
      this.#runEnds[index] = isSame ? (this.#runEnds[index + 1] ?? 0) : index + 1;
    }
    this.#pieces = labelled(piecesOf(page, occurrences));
    this.#lines = new Lines(page.text);
  }

  /** The person beside an address; without a name for an address of a role. */
  find(occurrence: Occurrence): Person {
    const local = occurrence.value.slice(0, occurrence.value.lastIndexOf("@"));
    const isRole = isRoleName(local);
    const inLine = this.#inLine(occurrence, isRole ? null : local);
    if (inLine !== null) return inLine;
    const { spans, top } = this.#alone(occurrence);
    for (const [index, span] of isRole ? [] : spans.entries()) {
      const inner = spans[index - 1] ?? { start: -1, end: -1 };
      const found = best(this.#named(span, inner), local, span.end - span.start);
      if (found === null) continue;
      const grown = this.#grown(spans.slice(index), found);
      const isWhole =
        grown.length === spans.length - index && INLINE.test(this.#page.elements[top]?.tag ?? "");
      const rest = isWhole ? this.#segment(occurrence, top, local, found) : null;
      return this.#read(rest === null ? grown : [...grown, rest.span], found, occurrence.at);
    }
    const segment = isRole ? null : this.#segment(occurrence, top, local, null);
    return segment === null
      ? this.#read(
          spans.filter(({ start, end }) => end - start <= SMALL),
          null,
          occurrence.at,
        )
      : this.#read([segment.span], segment.part, occurrence.at);
  }

  /** The person of a line whose parts blanks alone set apart: without a name in doubt. `null` for another line. */
  #inLine({ at, end, value }: Occurrence, local: string | null): Person | null {
    const line = this.#lines.at(at);
    const indexOf = (from: number) =>
      lowerBound(this.#byPlace.length, (index) => (this.#byPlace[index]?.at ?? 0) >= from);
    const [first, place, last] = [indexOf(line.start), indexOf(at), indexOf(line.end + 1)];
    const isOther = (each: Occurrence) => each.value !== value;
    const before = this.#byPlace.slice(Math.max(first, place - 3), place).findLast(isOther);
    const behind = this.#byPlace.slice(place, Math.min(last, place + 4)).find(isOther);
    const [start, stop] = [Math.max(line.start, at - SMALL), Math.min(line.end, end + SMALL)];
    const own = { start: Math.max(before?.end ?? 0, start), end: Math.min(behind?.at ?? stop, stop) };
    if (before !== undefined || behind !== undefined) {
      // Each has what stands before it or, where the line begins with one, what stands behind it.
      const [head, tail] = [this.#byPlace[first]?.at ?? 0, this.#byPlace[last - 1]?.end ?? 0];
      const isNameFirst = this.#piecesIn({ start: Math.max(line.start, head - SMALL), end: head }).length > 0;
      const isMore = this.#piecesIn({ start: tail, end: Math.min(line.end, tail + SMALL) }).length > 0;
      if (isNameFirst) own.end = at;
      if (isMore || !isNameFirst) own.start = at;
    }
    const found = readColumns(
      this.#piecesIn(own),
      this.#page.text.slice(start, stop).trim(),
      local,
      this.#isFamilyFirst,
    );
    return found === null ? null : this.#read([own], found.part, at, found.texts);
  }

  /** The elements around an address that contain no other one, the innermost first, and the index of the last; -1 without any. */
  #alone({ element, value }: Occurrence): { spans: Span[]; top: number } {
    const { elements } = this.#page;
    const spans: Span[] = [];
    let top = -1;
    for (let index = element; index >= 0; index = elements[index]?.parent ?? -1) {
      const around = elements[index];
      if (around === undefined || !this.#isAlone(index, around.last, value)) break;
      top = index;
      const inner = spans.at(-1);
      const isSame = inner !== undefined && inner.start === around.start && inner.end === around.end;
      if (!isSame && spans.length < MAX_LEVELS && around.end - around.start <= LARGE) spans.push(around);
    }
    return { spans, top };
  }

  #isAlone(first: number, last: number, value: string): boolean {
    const low = lowerBound(this.#byElement.length, (at) => (this.#byElement[at]?.element ?? 0) >= first);
    const end = this.#byElement[this.#runEnds[low] ?? 0]?.element ?? Number.POSITIVE_INFINITY;
    return this.#byElement[low]?.value === value && end > last;
  }

  /** Of the elements around a name, those without another name. */
  #grown(spans: readonly Span[], { name }: NamedPart): Span[] {
    const hasOther = (span: Span) =>
      this.#named(span).some(({ weight, name: { lastName } }) => weight >= 2 && lastName !== name.lastName);
    const end = spans.findIndex(
      (span, index) => index > 0 && (span.end - span.start > MEDIUM || hasOther(span)),
    );
    return spans.slice(0, end === -1 ? undefined : end);
  }

  /**
   * In an element with several addresses, the part of one: from its name to the next.
   * @param top Its largest child with this address alone. @param known Its name, if that stands in the child.
   */
  #segment(
    occurrence: Occurrence,
    top: number,
    local: string,
    known: NamedPart | null,
  ): { span: Span; part: NamedPart } | null {
    const index = this.#page.elements[top]?.parent ?? occurrence.element;
    const around = this.#page.elements[index];
    if (around === undefined || around.end - around.start > 10 * LARGE) return null;
    const place = lowerBound(this.#byPlace.length, (at) => (this.#byPlace[at]?.at ?? 0) >= occurrence.at);
    const isOther = ({ value, element }: Occurrence) =>
      value !== occurrence.value && element >= index && element <= around.last;
    const before = this.#byPlace.slice(Math.max(0, place - 3), place).findLast(isOther);
    const behind = this.#byPlace.slice(place, place + 4).find(isOther);
    const start = Math.max(this.#edges(index, before)?.end ?? around.start, occurrence.at - LARGE);
    const end = Math.min(this.#edges(index, behind)?.start ?? around.end, occurrence.end + LARGE);
    const names = this.#named({ start, end }).map((part) => {
      return { ...part, weight: part.weight + (part.start <= occurrence.at ? 1 : -1) };
    });
    const part = known ?? best(names.toReversed(), local, 0);
    if (part === null) return null;
    const isBefore = part.start <= occurrence.at;
    const stops = this.#piecesIn({ start, end })
      .filter((piece) => piece.start >= Math.max(occurrence.end, part.end))
      .flatMap((piece) => this.#namesIn(piece))
      .filter(({ name }) => name.lastName !== part.name.lastName)
      .map((each) => each.start);
    const stop = isBefore ? Math.min(end, ...stops) : end;
    return { part, span: { start: isBefore ? part.start : occurrence.at, end: stop } };
  }

  /** The child of an element that contains an address, or the address itself. */
  #edges(index: number, occurrence: Occurrence | undefined): Span | undefined {
    if (occurrence === undefined) return undefined;
    const { elements } = this.#page;
    let child = occurrence.element;
    while (child !== index && elements[child]?.parent !== index) child = elements[child]?.parent ?? index;
    return child === index ? { start: occurrence.at, end: occurrence.end } : elements[child];
  }

  #read(spans: readonly Span[], part: NamedPart | null, at: number, texts?: readonly Piece[]): Person {
    const person: Person = { name: part?.name ?? null, position: null, phone: null, profiles: [] };
    for (const span of spans) {
      const pieces = this.#piecesIn(span);
      person.phone ??= phoneIn(pieces, linksIn(this.#page.phones, span));
      if (part === null) continue;
      person.position ??= positionIn(texts ?? pieces, part, at);
      person.profiles.push(...linksIn(this.#page.profiles, span).map(({ value }) => value));
    }
    return person;
  }

  /** The texts in a span; of one that reaches out of it, the part in it. */
  #piecesIn({ start, end }: Span): Piece[] {
    const low = lowerBound(this.#pieces.length, (at) => (this.#pieces[at]?.end ?? 0) > start);
    const high = lowerBound(this.#pieces.length, (at) => (this.#pieces[at]?.start ?? 0) >= end);
    return this.#pieces.slice(low, high).map((piece) => {
      if (piece.start >= start && piece.end <= end) return piece;
      const { names: _, ...rest } = piece;
      const from = Math.max(start, piece.start);
      return {
        ...rest,
        start: from,
        end: Math.min(end, piece.end),
        text: piece.text.slice(from - piece.start, end - piece.start),
      };
    });
  }

  /** The names in a span, without those in another within it. */
  #named(span: Span, without: Span = { start: -1, end: -1 }): NamedPart[] {
    const pieces = this.#piecesIn(span);
    const divided = dividedName(pieces);
    const outer = pieces.filter(({ start, end }) => start < without.start || end > without.end);
    return [...(divided === null ? [] : [divided]), ...outer.flatMap((piece) => this.#namesIn(piece))];
  }

  #namesIn(piece: Piece): NamedPart[] {
    piece.names ??= namesIn(piece, this.#isFamilyFirst);
    return piece.names;
  }
}

/** The first of the links in a span. @param links In the order of the page. */
function linksIn(links: readonly Linked[], { start, end }: Span): readonly Linked[] {
  const low = lowerBound(links.length, (at) => (links[at]?.at ?? 0) >= start);
  return links.slice(low, low + MAX_LINKS).filter(({ at }) => at <= end);
}

/** The name with the highest score; the larger a text, the surer it must be. */
function best(names: readonly NamedPart[], local: string, size: number): NamedPart | null {
  const least = size <= SMALL ? 1 : size <= MEDIUM ? 3 : 5;
  let found: (NamedPart & { score: number }) | null = null;
  for (const part of names) {
    const score = part.weight + nameFit(part.name, local);
    if (score >= least && (found === null || score > found.score)) found = { ...part, score };
  }
  return found;
}
