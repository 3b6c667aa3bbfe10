import { expect, test } from "vitest";
import { organizationKey, organizationPrefix, organizationRank } from "./organization-key.ts";

/** Each line has spellings of one name. */
const SPELLINGS = [
  "Acme, Inc.|ACME INC|acme incorporated|Ácme Inc",
  "München Bau GmbH|Muenchen Bau GmbH|MUNCHEN-BAU GMBH|münchen bau g.m.b.h.",
  "Müller & Co. KG|Mueller und Co KG|Müller + Co. K.G.",
  "Hotel Krone GmbH & Co. KG|Hotel Krone GmbH und Co KG",
  "Foo Sp. z o.o.|Foo Sp. z o. o.|FOO SP Z O.O.",
  "Télé Plus S.A.|Tele Plus SA|TELE PLUS S. A.",
  "Novo A/S|Novo AS|NOVO A.S.",
  "AB Volvo|Volvo AB",
  "Bimbo, S.A.B. de C.V.|Bimbo SAB de CV",
  "Tata Private Limited|Tata Pvt. Ltd.",
  "Rossi S.r.l.|Rossi SRL",
  "Straße Oy|Strasse OY",
  "AT&T Corp.|AT and T Corporation|ATT Corp",
  "Hewlett-Packard|Hewlett Packard|HewlettPackard",
  "L’Oréal|L'Oreal|LOREAL",
  "J.P. Morgan|JP Morgan|J P Morgan",
  "ООО «Ромашка»|ООО Ромашка|OOO Romashka",
  "株式会社トヨタ|トヨタ(株)|トヨタ株式会社",
  "The Works Limited|Works Ltd.",
  "Ørsted A/S|Oersted A/S|Orsted AS",
];

test.each(SPELLINGS)("%s have one key", (line) => {
  expect([...new Set(line.split("|").map(organizationKey))]).toHaveLength(1);
});

test("different names, and names with different legal forms, have different keys", () => {
  const names = [
    ...SPELLINGS.map((line) => line.split("|")[0] ?? ""),
    "Acme",
    "Acme GmbH",
    "3M",
    "4M",
    ...["C", "C++", "C#", "华为", "华威", "Disney", "Disney+ GmbH"],
    ...["Constructor", "toString Inc", "San Diego"],
    "%",
    "!",
  ];
  expect(new Set(names.map(organizationKey)).size).toBe(names.length);
});

test("a name with a legal form begins with the key of the name without it", () => {
  for (const name of ["Acme GmbH", "Acme & Co. KG", "AB Acme", "Acme"]) {
    expect(organizationPrefix(organizationKey(name)), name).toBe("acme|");
  }
});

test("a name that consists of legal forms is kept", () => {
  for (const name of ["Limited", "AG", "S.A.", "Co. KG"])
    expect(organizationKey(name), name).not.toMatch(/^\|/);
});

test("organizationRank puts the same letters first, then the same words and legal form, and joined words last", () => {
  const wanted = "Blue Sky, Inc.";
  const names = [
    "BLUE SKY, INC.",
    "Blue-Sky Incorporated",
    "Blue Sky",
    "Blue Sky GmbH",
    "Bluesky Inc",
    "Bluesky",
    "Bluesky AG",
  ];
  expect(names.map((name) => organizationRank(name, wanted))).toEqual([0, 1, 2, 3, 4, 5, 6]);
});
