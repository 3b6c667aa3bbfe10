import { nameFault } from "@outrigger/core/lookup";
import { type Kind, labelKind } from "./labels.ts";
import type { PageText, Piece } from "./page-text.ts";
import { EAST_ASIAN, isCapitalised, isTitle, nameFit, type PersonName, personName } from "./person-names.ts";

export interface NamedPart {
  name: PersonName;
  /** The piece, and the part of its text. */
  index: number;
  start: number;
  end: number;
  /** How sure it is that the text is a name. */
  weight: number;
}

/** Longer texts are not what a label announces. */
const MAX_VALUE = 150;
/** A text between punctuation. A dash between letters belongs to a name. */
const PART = /(?:[^,;()[\]|•·–—/:（）、，。；：「」【】-]|(?<=\p{L})[-–](?=\p{L}))+/gu;
/** `dr inż. `, `tekn. dr `, before two words at least. */
const LOWER_TITLES = /^(?:\p{Ll}[\p{Ll}.]{0,5}[. ] *)+(?=\p{Lu}\S+ )/u;

/** The names in the pieces of a page. */
export class Names {
  readonly #page: PageText;
  readonly #isFamilyFirst: boolean;
  readonly #known: (NamedPart[] | undefined)[] = [];
  /** Lines of several texts. */
  readonly #shared = new Set<number>();

  constructor(page: PageText, isFamilyFirst: boolean) {
    this.#page = page;
    this.#isFamilyFirst = isFamilyFirst;
    for (const { at } of page.occurrences)
      for (const piece of page.pieces.slice(Math.max(0, at - 1), at + 1)) this.#shared.add(piece.line);
    for (const [index, { line, text }] of page.pieces.entries())
      if (text !== "" && page.pieces[index - 1]?.line === line) this.#shared.add(line);
    this.#label();
  }

  of(pieces: readonly Piece[]): NamedPart[] {
    return pieces.flatMap((piece) => (this.#known[piece.index] ??= this.#read(piece)));
  }

  /** The name with the highest score; the larger a text, the surer it must be. @param size Of the text. */
  best(pieces: readonly Piece[], local: string, size: number): NamedPart | null {
    const divided = dividedName(pieces);
    const names = this.of(pieces);
    let highest = size <= 300 ? 0 : size <= 1500 ? 2 : 4;
    let found: NamedPart | null = null;
    for (const part of divided === null ? names : [divided, ...names]) {
      const score = part.weight + nameFit(part.name, local);
      if (score <= highest) continue;
      [found, highest] = [part, score];
    }
    return found;
  }

  /** Passes the kind of an element on to its text, and what a label announces to the text behind it. */
  #label(): void {
    const { elements, pieces } = this.#page;
    let announced: Kind | null = null;
    let named = -1;
    for (const piece of pieces) {
      const { text } = piece;
      const element = elements[piece.element];
      const owner = elements[element?.owner ?? -1];
      if (text === "" || element === undefined) continue;
      // A further text in a cell of names is no further name.
      const isOwn = owner !== undefined && owner.to - owner.from <= MAX_VALUE && element.owner !== named;
      if (isOwn) piece.kind = element.kind;
      const [, label = "", value] = /^([^:]{1,32}?)\s*:\s*(\S.*)$/su.exec(text) ?? [];
      const inner = value === undefined ? null : labelKind(label);
      const whole = labelKind(text);
      if (inner !== null && value !== undefined) Object.assign(piece, { kind: inner, text: value });
      else if (whole !== null && piece.kind !== "name") {
        announced = element.isLink || whole === "email" ? null : whole;
        piece.isLabel = true;
        continue;
      }
      piece.kind ??= announced;
      announced = null;
      if (isOwn && element.kind === "name") named = element.owner;
    }
  }

  #read(piece: Piece): NamedPart[] {
    const { index, text, kind, isLabel } = piece;
    if (isLabel || text === "" || text.length > 1000 || (kind !== null && kind !== "name")) return [];
    const { rank = 0, isLink = false, address = null } = this.#page.elements[piece.element] ?? {};
    const whole = kind === "name" ? personName(text, this.#isFamilyFirst) : null;
    if (whole !== null) return [{ name: whole, index, start: 0, end: text.length, weight: 4 + rank }];
    if (kind === "name") return [];
    const isShared =
      rank + Number(isLink) === 0 &&
      this.#shared.has(piece.line) &&
      (address !== null || this.#page.piecesOf(piece.element, 6).length > 1);
    return [...text.matchAll(PART)].flatMap(({ 0: written, index: at }): NamedPart[] => {
      const plain = written.trim().replace(LOWER_TITLES, "");
      const name = isCapitalised(plain) && !isTitle(plain) ? personName(plain, this.#isFamilyFirst) : null;
      if (name === null) return [];
      // `Ada Lovelace Ingénieure`: blanks alone separate a title of an unknown language.
      const isOpen = isShared && (at === 0 || at + written.length === text.length);
      if (isOpen && `${name.firstName} ${name.lastName}`.split(" ").length > 2) return [];
      const isUnsure = !/\s/.test(plain) || (isOpen && EAST_ASIAN.test(plain));
      const weight = rank + (isUnsure ? -1 : 1);
      return [{ name, index, start: at, end: at + written.length, weight }];
    });
  }
}

/** A first and a last name that labels announce apart, or a single name beside a last name. */
function dividedName(pieces: readonly Piece[]): NamedPart | null {
  const of = (kind: Kind) => pieces.find((piece) => piece.kind === kind && !piece.isLabel);
  const last = of("lastName");
  const first = of("firstName") ?? of("name");
  if (last === undefined || first === undefined || nameFault(`${first.text}${last.text}`) !== null)
    return null;
  const { index, text } = first.index > last.index ? first : last;
  const name = { firstName: first.text.replace(/^,\s*/, ""), lastName: last.text };
  return { name, index, start: 0, end: text.length, weight: 6 };
}
