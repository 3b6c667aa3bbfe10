import type { Site, SitePage, Truth } from "./site.ts";

/** What an extractor found on a page; the same names as in the page index. */
export interface Found {
  address: string;
  firstName: string | null;
  lastName: string | null;
  position: string | null;
  phoneNumber: string | null;
}

export interface ReadResult {
  isIndexable: boolean;
  contacts: readonly Found[];
}

export type Reader = (page: SitePage, site: Site) => ReadResult;

/** Right ones of all. */
export class Share {
  right = 0;
  all = 0;

  add(isRight: boolean) {
    this.all += 1;
    if (isRight) this.right += 1;
  }

  get value(): number {
    return this.all === 0 ? 1 : this.right / this.all;
  }
}

/** A wrong or missing answer. */
export interface Mistake {
  what: "false" | "missed" | "name" | "position" | "phone" | "noindex";
  /** The kind of noise, or of writing and layout. */
  group: string;
  page: string;
  wanted: string;
  got: string;
}

export class Score {
  readonly precision = new Share();
  readonly readable = new Share();
  readonly names = new Share();
  /** Names of the wrong person, or of none: worse than no name. */
  wrongNames = 0;
  readonly positions = new Share();
  readonly phones = new Share();
  readonly byWriting = new Map<string, Share>();
  readonly byLayout = new Map<string, Share>();
  readonly byLanguage = new Map<string, Share>();
  readonly mistakes: Mistake[] = [];
}

/**
 * Compares what a reader finds with the truth about the sites. Recall counts the page of the truth; names, positions and
 * phones count of found addresses, where the page has one or the reader gives one.
 */
export function scoreSites(sites: Iterable<Site>, read: Reader): Score {
  const score = new Score();
  for (const site of sites) scoreSite(score, site, read);
  return score;
}

function scoreSite(score: Score, site: Site, read: Reader) {
  const own = new Map(site.truths.map((truth) => [truth.address, truth]));
  for (const page of site.pages) {
    const result = read(page, site);
    if (!page.isIndexable) {
      if (result.isIndexable)
        score.mistakes.push({ what: "noindex", group: "", page: page.url, wanted: "", got: "" });
      continue;
    }
    const found = new Map<string, Found>();
    for (const contact of result.contacts) {
      const truth = own.get(contact.address);
      const isTrue =
        truth !== undefined && (truth.page === page.url || page.repeats.includes(contact.address));
      // A repeated address is easy: it counts once.
      if (isTrue && truth.page !== page.url) continue;
      const isTwice = found.has(contact.address);
      score.precision.add(isTrue && !isTwice);
      if (!isTrue || isTwice) {
        const group = isTwice ? "twice" : (site.baits.get(contact.address) ?? "other");
        score.mistakes.push({ what: "false", group, page: page.url, wanted: "", got: contact.address });
      }
      found.set(contact.address, contact);
    }
    for (const truth of site.truths.filter(({ page: url }) => url === page.url)) {
      scoreTruth(score, truth, found.get(truth.address), site.language);
    }
  }
}

function scoreTruth(score: Score, truth: Truth, found: Found | undefined, language: string) {
  const { writing, layout, page, address } = truth;
  const isFound = found !== undefined;
  const fail = (what: Mistake["what"], wanted: string, got: string) =>
    score.mistakes.push({ what, group: `${writing} | ${layout} | ${language}`, page, wanted, got });
  score.readable.add(isFound);
  for (const [map, key] of [
    [score.byWriting, writing],
    [score.byLayout, layout],
    [score.byLanguage, language],
  ] as const) {
    const share = map.get(key) ?? new Share();
    share.add(isFound);
    map.set(key, share);
  }
  if (!isFound) fail("missed", address, "");
  if (found === undefined) return;
  scoreFields(score, truth, found, (what, wanted, got) => fail(what, `${address}: ${wanted}`, got));
}

function scoreFields(
  score: Score,
  truth: Truth,
  found: Found,
  fail: (what: "name" | "position" | "phone", wanted: string, got: string) => void,
) {
  const wantedName = [truth.firstName, truth.lastName].map((part) => part ?? "-").join(" | ");
  const gotName = [found.firstName, found.lastName].map((part) => part ?? "-").join(" | ");
  if (wantedName !== "- | -" || gotName !== "- | -") {
    const isRight = fold(wantedName) === fold(gotName);
    score.names.add(isRight);
    if (!isRight) {
      if (gotName !== "- | -") score.wrongNames += 1;
      fail("name", wantedName, gotName);
    }
  }
  if (truth.position !== null || found.position !== null) {
    const isRight = fold(truth.position ?? "") === fold(found.position ?? "");
    score.positions.add(isRight);
    if (!isRight) fail("position", truth.position ?? "-", found.position ?? "-");
  }
  if (truth.phone === undefined || (truth.phone === null && found.phoneNumber === null)) return;
  const digits = (found.phoneNumber ?? "").replace(/\D/g, "");
  // As E.164, within the country, or as the page writes it.
  const spellings =
    truth.phone === null ? [] : [truth.phone.international, truth.phone.national, truth.phone.written];
  const isRight = spellings.some((spelling) => spelling.replace(/\D/g, "") === digits);
  score.phones.add(isRight);
  if (!isRight) fail("phone", truth.phone?.written ?? "-", found.phoneNumber ?? "-");
}

function fold(text: string): string {
  return text.normalize("NFC").toLowerCase().replace(/\s+/g, " ").trim();
}
