import { describe, expect, test } from "vitest";
import { BIG_PROVIDERS, NOT_WEBMAIL, SUGGESTED_PROVIDERS } from "./big-providers.ts";
import { createMailLists } from "./mail-lists.ts";

const lists = createMailLists();

describe("the built-in lists", () => {
  test.each(["gmail.com", "mail.ru", "gmx.de", "mail.gmail.com", "posteo.de", "aol.com", "lycos.com"])(
    "contain %s as webmail",
    (domain) => {
      expect(lists.isWebmail(domain)).toBe(true);
      expect(lists.isDisposable(domain)).toBe(false);
    },
  );

  test.each(["mailinator.com", "x.mailinator.com", "a.b.yopmail.com", "guerrillamail.com"])(
    "contain %s as disposable, and not as webmail",
    (domain) => {
      expect(lists.isDisposable(domain)).toBe(true);
      expect(lists.isWebmail(domain)).toBe(false);
    },
  );

  test.each([
    "example.com",
    "iana.org",
    "facebook.com",
    "gmail.com.example.org",
    "notgmail.com",
    "com",
    "",
    "mycompany.msk.ru",
  ])("know nothing of %j", (domain) => expect(lists.isWebmail(domain)).toBe(false));

  test("contain every big provider as webmail and none as disposable", () => {
    expect(BIG_PROVIDERS.filter(lists.isDisposable)).toEqual([]);
    expect(BIG_PROVIDERS.filter((domain) => !lists.isWebmail(domain))).toEqual([]);
    expect(new Set(BIG_PROVIDERS).size).toBe(BIG_PROVIDERS.length);
    expect(BIG_PROVIDERS.filter((domain) => NOT_WEBMAIL.includes(domain))).toEqual([]);
  });
});

describe("options of createMailLists", () => {
  test("addWebmail and addDisposable add domains with their subdomains, in any case", () => {
    const own = createMailLists({ addWebmail: ["Mail.Example."], addDisposable: ["bin.example"] });
    expect([
      own.isWebmail("mail.example"),
      own.isWebmail("a.mail.example"),
      own.isWebmail("example"),
    ]).toEqual([true, true, false]);
    expect([own.isDisposable("a.bin.example"), own.isWebmail("gmail.com")]).toEqual([true, true]);
  });

  test("exceptWebmail and exceptDisposable remove domains, and the longest matching name wins", () => {
    const own = createMailLists({
      exceptWebmail: ["gmail.com"],
      exceptDisposable: ["mailinator.com"],
      addDisposable: ["x.mailinator.com"],
    });
    expect([own.isWebmail("gmail.com"), own.isWebmail("a.gmail.com")]).toEqual([false, false]);
    expect([own.isDisposable("mailinator.com"), own.isDisposable("y.mailinator.com")]).toEqual([
      false,
      false,
    ]);
    expect(own.isDisposable("a.x.mailinator.com")).toBe(true);
  });

  test("addDisposable may contain a big provider", () => {
    expect(createMailLists({ addDisposable: ["gmail.com"] }).isDisposable("gmail.com")).toBe(true);
  });
});

describe("suggestDomain", () => {
  test.each([
    ["gmial.com", "gmail.com"],
    ["gamil.com", "gmail.com"],
    ["gmai.com", "gmail.com"],
    ["gmaill.com", "gmail.com"],
    ["gmail.co", "gmail.com"],
    ["gmail.con", "gmail.com"],
    ["gmail.cmo", "gmail.com"],
    ["gnail.com", "gmail.com"],
    ["gmali.com", "gmail.com"],
    ["hotmial.com", "hotmail.com"],
    ["hotmal.com", "hotmail.com"],
    ["hotmail.cm", "hotmail.com"],
    ["yaho.com", "yahoo.com"],
    ["yhaoo.com", "yahoo.com"],
    ["yah00.com", null],
    ["yaho0.com", "yahoo.com"],
    ["outlok.com", "outlook.com"],
    ["iclould.com", "icloud.com"],
    ["lcloud.com", "icloud.com"],
    ["protonmial.com", "protonmail.com"],
    ["hotmail.co.ku", "hotmail.co.uk"],
  ])("%s suggests %s", (domain, suggested) => expect(lists.suggestDomain(domain)).toBe(suggested));

  test.each([
    "gmail.com",
    "mail.com",
    "ymail.com",
    "email.com",
    "a.gmail.com",
    "example.com",
    "gmx.de",
    "gmx.dd",
    "zmail.com",
    "iana.org",
    "",
    "x",
  ])("%j suggests nothing", (domain) => expect(lists.suggestDomain(domain)).toBeNull());

  test("suggests nothing for a known webmail domain", () => {
    expect(BIG_PROVIDERS.map(lists.suggestDomain).filter((suggested) => suggested !== null)).toEqual([]);
    const own = createMailLists({ addWebmail: ["gmial.com"], exceptWebmail: ["gmaul.com"] });
    expect([own.suggestDomain("gmial.com"), own.suggestDomain("gmaul.com")]).toEqual([null, null]);
  });

  test("finds every swap, loss and doubling of a letter of the suggested providers", () => {
    for (const domain of SUGGESTED_PROVIDERS) {
      for (let at = 0; at < domain.indexOf("."); at++) {
        const swapped = domain.slice(0, at) + domain[at + 1] + domain[at] + domain.slice(at + 2);
        const slips = [
          domain.slice(0, at) + domain.slice(at + 1),
          domain.slice(0, at) + domain[at] + domain.slice(at),
          swapped,
        ];
        for (const slip of slips) {
          const isKnown =
            slip === domain || BIG_PROVIDERS.some((known) => slip === known || slip.endsWith(`.${known}`));
          if (!isKnown && slip.indexOf(".") > 0) expect(lists.suggestDomain(slip), slip).not.toBeNull();
        }
      }
    }
  });
});
