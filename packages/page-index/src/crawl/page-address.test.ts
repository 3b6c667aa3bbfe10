import { expect, test } from "vitest";
import { foundPage, pageKey } from "./page-address.ts";

const rank = (path: string, text = "") =>
  foundPage(new URL(path, "https://acme.example"), text, "acme.example", 1)?.rank;

test.each([
  ...[
    "/contact",
    "/kontakt.html",
    "/contatti",
    "/contacto",
    "/contato",
    "/kapcsolat",
    "/yhteystiedot",
    "/iletisim",
  ],
  ...[
    "/контакты",
    "/επικοινωνια",
    "/%E3%81%8A%E5%95%8F%E3%81%84%E5%90%88%E3%82%8F%E3%81%9B",
    "/联系我们",
    "/team/ada",
  ],
  ...[
    "/notre-equipe",
    "/equipo",
    "/zespół",
    "/o-nas",
    "/über-uns",
    "/ueber_uns",
    "/à-propos",
    "/quiénes-somos",
    "/chi-siamo",
  ],
  ...[
    "/om-oss",
    "/over-ons",
    "/hakkımızda",
    "/impressum",
    "/mentions-legales",
    "/aviso-legal",
    "/presse",
    "/pers",
    "/ansprechpartner",
  ],
  ...["/문의", "/회사소개", "/팀", "/プレス", "/%EB%AC%B8%EC%9D%98"],
  ...["/people", "/staff", "/about", "/medewerkers", "/команда"],
])("foundPage ranks %s before other pages", (path) => {
  expect(rank(path)).toBe(2);
});

test("foundPage ranks a link by its text, and others last", () => {
  expect(rank("/p?id=7", "Über uns")).toBe(2);
  expect([rank("/products"), rank("/%E0%A4%A"), rank("/tym-2")]).toEqual([3, 3, 2]);
});

test("foundPage drops fragments, credentials and tracking, and pages that are none of the domain", () => {
  const url = new URL("https://ada:pw@www.acme.example/team/?id=1&utm_source=x&gclid=y#ada");
  expect(foundPage(url, "", "acme.example", 1)).toMatchObject({
    url: "https://www.acme.example/team/?id=1",
    key: "acme.example/team?id=1",
  });
  for (const other of [
    "https://acme.example.com/",
    "https://notacme.example/",
    "https://acme.example/a.PDF",
    `https://acme.example/${"a".repeat(1100)}`,
  ]) {
    expect(foundPage(new URL(other), "", "acme.example", 1), other).toBeNull();
  }
  expect(pageKey(new URL("http://acme.example/"))).toBe(pageKey(new URL("https://www.acme.example")));
});
