import { footerFurniture, headFurniture, menuFurniture, teaserFurniture } from "./furniture.ts";
import type { Language } from "./language.ts";
import { type Layout, PageStyle, type Shown } from "./layout.ts";
import { type Entry, People } from "./people.ts";
import { Random } from "./random.ts";
import type { Site, SiteKinds, Truth } from "./site.ts";
import { SITE_KINDS } from "./site-kinds.ts";
import type { Parts } from "./themes.ts";
import { escapeHtml, type Writing } from "./writings.ts";

/** Generates sites, always the same for a seed. Languages take turns. */
export function* generatedSites(seed: number, count: number, kinds: SiteKinds = SITE_KINDS): Generator<Site> {
  for (let index = 0; index < count; index++) {
    const language = kinds.languages[index % kinds.languages.length];
    if (language !== undefined)
      yield new SiteMaker(new Random(seed * 7919 + index), index, language, kinds).make();
  }
}

const STEMS = [
  "nordhafen",
  "lumera",
  "altenbach",
  "corvida",
  "stellmark",
  "brightwater",
  "montclar",
  "verdania",
  "kestrel",
  "oakfield",
];
const SUFFIXES = ["GmbH", "Ltd", "Group", "& Partners", "Institute", "SA", "University", "Law"];

class SiteMaker {
  readonly #random: Random;
  readonly #language: Language;
  readonly #kinds: SiteKinds;
  readonly #domain: string;
  readonly #origin: string;
  readonly #organization: string;
  readonly #people: People;
  readonly #office: Entry;
  readonly #style: PageStyle;
  readonly #theme: (parts: Parts) => string;
  readonly #isWindows: boolean;
  readonly #site: Site;

  constructor(random: Random, index: number, language: Language, kinds: SiteKinds) {
    const place = random.pick(language.places);
    const stem = random.pick(STEMS);
    this.#random = random;
    this.#language = language;
    this.#kinds = kinds;
    this.#domain = `${stem}-${index}.${place[0]}`;
    this.#origin = `https://${random.pick(["www.", ""])}${this.#domain}`;
    this.#organization = `${stem.charAt(0).toUpperCase()}${stem.slice(1)} ${random.pick(SUFFIXES)}`;
    const mailDomain = random.chance(0.1)
      ? `${random.pick(["inf", "law", "mail", "berlin"])}.${this.#domain}`
      : this.#domain;
    this.#people = new People(random, language, place, mailDomain);
    this.#office = this.#people.department("info");
    this.#style = new PageStyle(random, language, this.#organization);
    this.#theme = random.pick(Object.values(kinds.themes));
    this.#isWindows =
      random.chance(0.15) &&
      ["de", "fr", "es", "it", "pt", "nl", "sv", "da", "nb", "fi"].includes(language.code);
    this.#site = { domain: this.#domain, language: language.code, pages: [], truths: [], baits: new Map() };
  }

  make(): Site {
    this.#page("/", "home", this.#fillers(3));
    this.#staffPage("/team/");
    if (this.#random.chance(0.5)) this.#staffPage("/team/2");
    this.#contactPage();
    this.#newsPage();
    if (this.#random.chance(0.15)) this.#privatePage();
    return this.#site;
  }

  #staffPage(path: string) {
    const random = this.#random;
    const layout = random.pick(this.#kinds.layouts);
    if (random.chance(0.06)) return this.#sharedAddressPage(path);
    const entries = Array.from({ length: random.int(3, 9) }, () =>
      layout.isPeopleOnly || layout.isWhole || random.chance(0.9)
        ? this.#people.person(layout.isWhole ? { position: 1, phone: 1, title: 0.15 } : undefined)
        : this.#people.department(`office${random.int(1, 9999)}`),
    );
    this.#page(path, "team", `${this.#fillers(1)}${this.#lay(path, layout, entries)}`);
  }

  /** The same generic address below every person: it belongs to none of them. */
  #sharedAddressPage(path: string) {
    const cards = this.#kinds.layouts.filter(
      ({ isData, isSentence }) => isData !== true && isSentence !== true,
    );
    const layout = this.#random.pick(cards);
    const { address } = this.#people.department(path === "/team/" ? "kontakt" : "team");
    const length = this.#random.int(3, 6);
    const people = Array.from({ length }, () => ({ ...this.#people.person(), address }));
    const writing = this.#random.pick(this.#kinds.writings.filter(({ isOnName }) => isOnName !== true));
    const main = layout.render(
      people.map((entry) => this.#shown(entry, writing, layout)),
      this.#style,
    );
    this.#page(path, "team", main);
    const truth = { address, firstName: null, lastName: null, position: null, phone: undefined };
    this.#add(path, truth, writing.kind, `${layout.kind}, one address for all`);
  }

  #contactPage() {
    const random = this.#random;
    const layout = random.pick(
      this.#kinds.layouts.filter(({ isPeopleOnly, isWhole }) => !isPeopleOnly && !isWhole),
    );
    const departments = ["sales", "support", "press", "office"]
      .slice(0, random.int(1, 3))
      .map((local) => this.#people.department(local));
    const people = [this.#people.person({ position: 1, phone: 1, title: 0.2 })];
    const other = random.pick(this.#kinds.layouts);
    const main = `${this.#lay("/contact", layout, departments)}<h2>${this.#style.words.contact}</h2>${this.#lay("/contact", other, people)}`;
    this.#page("/contact", "contact", `${main}${random.chance(0.6) ? this.#extra("/contact") : ""}`);
  }

  #extra(path: string): string {
    const [kind, make] = this.#random.pick(Object.entries(this.#kinds.extras));
    const { html, shown } = make(
      [this.#people.department("mail"), this.#people.department("service")],
      this.#style,
    );
    for (const entry of shown) this.#add(path, entry, kind, "extra");
    return html;
  }

  #newsPage() {
    const random = this.#random;
    const layout = random.pick(this.#kinds.layouts);
    const people = Array.from({ length: random.int(1, 2) }, () =>
      this.#people.person({ position: 1, phone: 1, title: 0.2 }),
    );
    this.#page(
      "/news/1",
      "news",
      `${this.#fillers(4)}${this.#lay("/news/1", layout, people)}${this.#fillers(2)}`,
    );
  }

  /** Forbidden to index: none of it may be found. */
  #privatePage() {
    const person = this.#people.person();
    const robots = this.#random.pick(["noindex", "noindex, nofollow", "none", "NOARCHIVE"]);
    const main = `<h3>${escapeHtml(person.written)}</h3><p>${person.address}</p>`;
    this.#site.baits.set(person.address, "page with noindex");
    this.#page("/intern", "team", main, `<meta name="robots" content="${robots}">`);
  }

  /** Lays out entries, and notes the truth about them. */
  #lay(path: string, layout: Layout, entries: readonly Entry[]): string {
    const writing = this.#writing(layout);
    // Few pages write all of their addresses in the same way.
    const other = this.#random.chance(0.25) ? this.#writing(layout) : writing;
    const shown = entries.map((entry, index) => {
      const used = index % 3 === 1 ? other : writing;
      const hides = layout.hides ?? [];
      const told = {
        ...entry,
        position: hides.includes("position") ? null : entry.position,
        phone: hides.includes("phone") ? null : entry.phone,
      };
      this.#add(path, told, layout.isData ? "data" : used.kind, layout.kind);
      return this.#shown(told, used, layout);
    });
    return layout.render(shown, this.#style);
  }

  #writing(layout: Layout): Writing {
    const isSentence =
      layout.isSentence === true || layout.isInverted === true || layout.isPeopleOnly === true;
    return this.#random.pick(this.#kinds.writings.filter(({ isOnName }) => !(isSentence && isOnName)));
  }

  #shown(entry: Entry, writing: Writing, layout: Layout): Shown {
    const { address } = entry;
    const at = address.lastIndexOf("@");
    const name = escapeHtml(
      layout.isData ? entry.written : layout.isInverted ? entry.inverted : entry.written,
    );
    const mail = writing.write({
      ...{ address, local: address.slice(0, at), domain: address.slice(at + 1), name, random: this.#random },
    });
    const isOnName = writing.isOnName === true;
    return {
      entry,
      name: isOnName ? mail : name,
      inverted: name,
      position: escapeHtml(entry.position ?? ""),
      phone: entry.phone === null ? "" : this.#style.phone(entry.phone),
      mail: isOnName ? "" : mail,
    };
  }

  #add(path: string, entry: Omit<Truth, "page" | "writing" | "layout">, writing: string, layout: string) {
    const { address, firstName, lastName, position, phone } = entry;
    this.#site.truths.push({
      page: `${this.#origin}${path}`,
      address,
      firstName,
      lastName,
      position,
      phone,
      writing,
      layout,
    });
  }

  #fillers(count: number): string {
    return Array.from({ length: count }, () => `<p>${escapeHtml(this.#style.filler())}</p>`).join("");
  }

  #page(path: string, title: "home" | "team" | "contact" | "news", main: string, head = "") {
    const { words } = this.#style;
    const noise = this.#random
      .shuffled(Object.entries(this.#kinds.noise))
      .slice(0, this.#random.int(1, 3))
      .map(([kind, make]) => ({
        kind,
        ...make({ domain: this.#domain, people: this.#people, style: this.#style }),
      }));
    for (const { bait, kind } of noise) this.#site.baits.set(bait.toLowerCase(), kind);
    const charset = this.#isWindows ? "windows-1252" : "utf-8";
    const html = this.#theme({
      ...{ language: this.#language.code, title: words[title], organization: this.#organization, charset },
      head: `${head}${headFurniture(this.#style, `${this.#origin}${path}`)}`,
      navigation: [
        { href: "/", text: words.home },
        { href: "/team/", text: words.team },
        { href: "/contact", text: words.contact },
        { href: `${this.#origin}/news/1`, text: words.news },
        ...menuFurniture(this.#style),
      ],
      main: `${main}${noise.map((each) => each.html).join("\n")}${teaserFurniture(this.#style)}`,
      footer: `${footerFurniture(this.#style)}${this.#footer(path)}`,
    });
    const isIndexable = !/<meta name="robots"/.test(head);
    this.#site.pages.push({
      url: `${this.#origin}${path}`,
      html,
      charset,
      isIndexable,
      repeats: [this.#office.address],
    });
  }

  #footer(path: string): string {
    const { address, phone } = this.#office;
    const number = phone === null ? "" : ` · ${this.#style.words.phone} ${this.#style.phone(phone)}`;
    if (path === "/") this.#add(path, this.#office, "mailto, address as text", "footer");
    return `<p>© ${escapeHtml(this.#organization)}${number} · <a href="mailto:${address}">${address}</a></p>`;
  }
}
