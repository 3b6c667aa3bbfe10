import { describe, expect, test } from "vitest";
import { BIG_PROVIDERS, NOT_WEBMAIL, SUGGESTED_PROVIDERS } from "./big-providers.ts";
import { createMailLists } from "./mail-lists.ts";

const lists = createMailLists();

describe("the built-in lists", () => {
  test("tell webmail and disposable domains from each other and from all others", () => {
    const webmail = ["gmail.com", "mail.ru", "gmx.de", "mail.gmail.com", "posteo.de", "aol.com", "lycos.com"];
    const disposable = ["mailinator.com", "x.mailinator.com", "a.b.yopmail.com", "guerrillamail.com"];
    const others = ["example.com", "iana.org", "facebook.com", "gmail.com.example.org", "notgmail.com"];
    const all = [...webmail, ...disposable, ...others, "com", "", "mycompany.msk.ru"];
    expect(all.filter(lists.isWebmail)).toEqual(webmail);
    expect(all.filter(lists.isDisposable)).toEqual(disposable);
  });

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
    const names = ["mail.example", "a.mail.example", "example"];
    expect(names.map(own.isWebmail)).toEqual([true, true, false]);
    expect([own.isDisposable("a.bin.example"), own.isWebmail("gmail.com")]).toEqual([true, true]);
  });

  test("except removes domains, and the longest matching name wins", () => {
    const own = createMailLists({
      except: ["gmail.com", "mailinator.com"],
      addDisposable: ["x.mailinator.com"],
    });
    expect([own.isWebmail("gmail.com"), own.isWebmail("a.gmail.com")]).toEqual([false, false]);
    const names = ["mailinator.com", "y.mailinator.com", "a.x.mailinator.com"];
    expect(names.map(own.isDisposable)).toEqual([false, false, true]);
  });

  test("addDisposable may contain a big provider", () => {
    expect(createMailLists({ addDisposable: ["gmail.com"] }).isDisposable("gmail.com")).toBe(true);
  });
});

describe("suggestDomain", () => {
  test("suggests the provider of a usual slip", () => {
    const slips: Record<string, string> = {
      "gmail.com": "gmial.com gamil.com gmai.com gmaill.com gmail.co gmail.con gmail.cmo gnail.com gmali.com",
      "hotmail.com": "hotmial.com hotmal.com hotmail.cm",
      "yahoo.com": "yaho.com yhaoo.com yaho0.com",
      "outlook.com": "outlok.com",
      "icloud.com": "iclould.com lcloud.com",
      "protonmail.com": "protonmial.com",
      "hotmail.co.uk": "hotmail.co.ku",
      "aol.com": "aol.con aol.cmo aol.vom",
      "gmx.net": "gmx.nett gmx.nte",
      "acme.org": "acme.orgg",
    };
    for (const [provider, domains] of Object.entries(slips)) {
      for (const domain of domains.split(" ")) expect(lists.suggestDomain(domain), domain).toBe(provider);
    }
  });

  test("suggests nothing for providers, companies and names that are no slip", () => {
    const providers = ["gmail.com", "mail.com", "ymail.com", "email.com", "a.gmail.com", "gmx.de"];
    for (const domain of [
      ...providers,
      "example.com",
      "gmx.dd",
      ...[
        "acme.cam",
        "acme.bet",
        "acme.constructor",
        "acme.co",
        "acme.cm",
        "acme.example",
        "con",
        "a.com.acme.example",
      ],
      "zmail.com",
      "iana.org",
      "yah00.com",
      "",
      "x",
    ]) {
      expect(lists.suggestDomain(domain), domain).toBeNull();
    }
  });

  test("suggests nothing for a known webmail domain", () => {
    expect(BIG_PROVIDERS.map(lists.suggestDomain).filter((suggested) => suggested !== null)).toEqual([]);
    const own = createMailLists({ addWebmail: ["gmial.com"], except: ["gmaul.com"] });
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
