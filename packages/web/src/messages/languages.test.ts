import { describe, expect, it } from "vitest";
import { EDIT, IMAGE, NOW } from "../../test/views.ts";
import { createPages } from "../pages.ts";
import de from "./de.json" with { type: "json" };
import en from "./en.json" with { type: "json" };
import es from "./es.json" with { type: "json" };
import fr from "./fr.json" with { type: "json" };

const PROBLEM = { baseUrl: IMAGE.baseUrl, status: 410, title: "Gone", detail: "" };
type PagesOptions = NonNullable<Parameters<typeof createPages>[0]>;

/** What the viewer of a reader has: languages of reply and page, and a date. */
function viewed(acceptLanguage: string | undefined, options: PagesOptions = {}) {
  const view = acceptLanguage === undefined ? IMAGE : { ...IMAGE, acceptLanguage };
  const { html, headers } = createPages(options).viewer(view, NOW);
  const [, lang, dir] = /<html lang="(.*?)" dir="(.*?)">/.exec(html) ?? [];
  const [, date] = /<time [^>]*>(.*?)<\/time>/.exec(html) ?? [];
  expect(headers?.["Content-Language"]).toBe(lang);
  return {
    lang,
    dir,
    date,
    header: /<a class="button plain"[^>]*>(.*?)</.exec(html)?.[1],
    vary: headers?.Vary,
  };
}

describe("the language of pages", () => {
  it.each<[string | undefined, string, string]>([
    [undefined, "en", "20 Nov 2025, 11:00 UTC"],
    ["", "en", "20 Nov 2025, 11:00 UTC"],
    ["en-US,en;q=0.9", "en", "Nov 20, 2025, 11:00 AM UTC"],
    ["de", "de", "20. Nov. 2025, 11:00 UTC"],
    ["de-AT,en;q=0.9", "de", "20. Nov. 2025, 11:00 UTC"],
    ["fr-CH, fr;q=0.9, en;q=0.8, de;q=0.7, *;q=0.5", "fr", "20 nov. 2025, 11:00 UTC"],
    ["es-MX", "es", "20 nov 2025, 11:00 a.m. UTC"],
    ["en;q=0.5, fr;q=0.7, de;q=0", "fr", "20 nov. 2025, 11:00 UTC"],
    ["ja, pt;q=0.9", "en", "20 Nov 2025, 11:00 UTC"],
    ["ja, de;q=0.1", "de", "20. Nov. 2025, 11:00 UTC"],
    ["*", "en", "20 Nov 2025, 11:00 UTC"],
    ["de_DE; nonsense, ;;q=, ü", "en", "20 Nov 2025, 11:00 UTC"],
  ])("of a reader with Accept-Language %j is %s, with dates such as %s", (acceptLanguage, lang, date) => {
    const found = viewed(acceptLanguage);
    expect({ ...found, date: found.date?.replace(/\s/g, " ") }).toMatchObject({ lang, date, dir: "ltr" });
    expect(found.vary).toBe("Accept-Language");
  });

  it("is that of the option locale, without Vary, whatever the reader prefers", () => {
    expect(viewed("fr", { locale: "de-AT" })).toEqual({
      ...{ lang: "de", dir: "ltr", date: "20. Nov. 2025, 11:00 UTC", header: "Bild hochladen" },
      vary: undefined,
    });
    expect(viewed("fr", { locale: "en-US" }).date?.replace(/\s/g, " ")).toBe("Nov 20, 2025, 11:00 AM UTC");
  });

  it("is one of the option messages where the reader prefers it; missing texts are English", () => {
    const messages = { ar: { "page.upload": "ارفع صورة" }, "pt-BR": { "page.upload": "Enviar uma imagem" } };
    expect(viewed("ar-EG", { messages })).toMatchObject({ lang: "ar", dir: "rtl", header: "ارفع صورة" });
    expect(viewed("pt", { messages })).toMatchObject({ lang: "pt-BR", header: "Enviar uma imagem" });
    const { html } = createPages({ messages }).problem({ ...PROBLEM, acceptLanguage: "ar" });
    expect(html).toContain("This image is no longer available");
  });

  it("has the texts of messages in place of ours", () => {
    const messages = { en: { "page.upload": "Add a picture" }, de: { "page.upload": "Foto hinzufügen" } };
    expect([viewed("en", { messages }).header, viewed("de", { messages }).header]).toEqual([
      "Add a picture",
      "Foto hinzufügen",
    ]);
  });

  it("has the plural forms that the language of messages needs", () => {
    const texts = {
      "left.time_one": "1:{{time}}",
      "left.time_few": "few:{{time}}",
      "left.time_many": "many:{{time}}",
    };
    const leftOf = (hours: number) => {
      const expiresAt = new Date(NOW + hours * 3_600_000).toISOString();
      const { html } = createPages({ locale: "pl", messages: { pl: texts } }).viewer(
        { ...IMAGE, expiresAt },
        NOW,
      );
      return /class="left"[^>]*>(.*?)</.exec(html)?.[1];
    };
    expect([leftOf(3), leftOf(25)]).toEqual(["few:3 godziny", "many:25 godzin"]);
  });

  it.each<[PagesOptions, string]>([
    [{ locale: "nl" }, "createPages: locale must be one of en, de, fr, es or of their regions, not nl"],
    [{ locale: "not a tag" }, "createPages: locale must be a BCP 47 language tag, such as de or en-US"],
    [
      { messages: { nl: { "page.upload": 1 as never } } },
      "createPages: messages.nl.page.upload must be a text",
    ],
  ])("throws a TypeError for %j", (options, message) => {
    expect(() => createPages(options)).toThrow(TypeError);
    expect(() => createPages(options)).toThrow(message);
  });
});

describe("the texts of a page's script", () => {
  const sent = (html: string) =>
    JSON.parse(/<script type="application\/json" id="texts">(.*?)<\/script>/.exec(html)?.[1] ?? "");

  it("are in the page, in the reader's language, without those of other scripts", () => {
    const pages = createPages();
    const edit = sent(pages.edit({ ...EDIT, image: { ...IMAGE, acceptLanguage: "de-AT" } }, NOW).html);
    expect(edit.locale).toBe("de-AT");
    const viewer = sent(pages.viewer({ ...IMAGE, acceptLanguage: "de-AT" }, NOW).html);
    expect(viewer.messages).toMatchObject({ "viewing.copied": de["viewing.copied"] });
    expect(Object.keys(viewer.messages).filter((key) => /^(upload|page|edit|admin)/.test(key))).toEqual([]);
  });

  it("cannot end their element", () => {
    const messages = { en: { "viewing.copied": "</script><b>" } };
    const { html } = createPages({ messages }).viewer(IMAGE, NOW);
    expect(html).not.toContain("</script><b>");
    expect(sent(html).messages["viewing.copied"]).toBe("</script><b>");
  });
});

describe("each catalogue", () => {
  const placeholdersOf = (text: string) => [...text.matchAll(/\{\{(.*?)\}\}/g)].map(([, name = ""]) => name);
  const catalogues: Readonly<Record<string, Readonly<Record<string, string>>>> = { de, es, fr };
  const english: Readonly<Record<string, string>> = en;

  it.each(Object.keys(catalogues))("has the keys and placeholders of the English one: %s", (language) => {
    const catalogue = catalogues[language] ?? {};
    expect(Object.keys(catalogue)).toEqual(Object.keys(english));
    for (const [key, text] of Object.entries(catalogue)) {
      expect([key, ...placeholdersOf(text).sort()]).toEqual([
        key,
        ...placeholdersOf(english[key] ?? "").sort(),
      ]);
      expect(text, key).not.toMatch(/^\s|\s$|\.\.\.|"/);
    }
  });
});
