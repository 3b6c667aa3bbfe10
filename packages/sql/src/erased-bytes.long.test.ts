import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { personOf } from "../../testing/src/contact-source/samples.ts";
import { putContacts } from "./contacts/put-contacts.ts";
import { createSqlContactSource } from "./contacts/sql-contact-source.ts";
import { PageFrontier } from "./pages/page-frontier.ts";
import { storeVisit } from "./pages/store-visit.ts";
import { openDatabase } from "./sql-database.ts";

const DOMAIN = "acme.example";

async function storedPeople(count: number) {
  const directory = await mkdtemp(join(tmpdir(), "outrigger-erased-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const database = openDatabase({ url: `file:${join(directory, "lookup.db")}` });
  const people = Array.from({ length: count }, (_, index) => ({
    ...personOf(DOMAIN, `zanzibar${index}x`, `Zoltanus${index}x`, `Quirke${index}x`),
    position: `Zeppelin${index}x Keeper`,
    phoneNumber: `+41 55 ${index}x 77`,
    networkA: `net-zq${index}x`,
  }));
  await putContacts(database, people, { organizations: { [DOMAIN]: "Zanzibar Trading" } });
  /** How often a text is in any file of the database. */
  async function occurrences(text: string): Promise<number> {
    let found = 0;
    for (const name of await readdir(directory)) {
      const bytes = await readFile(join(directory, name), "latin1");
      found += bytes.split(text).length - 1;
    }
    return found;
  }
  return { database, people, occurrences, source: createSqlContactSource(database) };
}

test("an erased contact leaves no byte in the files of an open or a closed embedded database", async () => {
  const { database, source, people, occurrences } = await storedPeople(2000);
  const texts = (index: number) => [
    ...[`zanzibar${index}x`, `Zoltanus${index}x`, `Quirke${index}x`],
    ...[`+41 55 ${index}x 77`, `net-zq${index}x`, `zeppelin${index}x`],
  ];
  // An update rewrites the contact first, so that it was in several places.
  await putContacts(
    database,
    people.map((person) => ({
      ...person,
      position: `${person.position}, a long title that moves the contact to another page`,
    })),
  );
  for (const text of texts(777)) expect(await occurrences(text), text).toBeGreaterThan(0);
  for (const index of [0, 777, 1999]) await source.erase(`zanzibar${index}x@${DOMAIN}`);
  for (const index of [0, 777, 1999]) {
    for (const text of texts(index)) expect(await occurrences(text), text).toBe(0);
  }
  expect(await occurrences("Zoltanus778x")).toBeGreaterThan(0);
  await database.close();
  for (const text of texts(777)) expect(await occurrences(text), text).toBe(0);
});

test("an erased person leaves no byte of the page that an embedded database knew the person from", async () => {
  const { database, source, occurrences } = await storedPeople(1);
  const frontier = new PageFrontier(database);
  const url = `https://${DOMAIN}/team/vaduz-vandermolen`;
  const start = { key: DOMAIN, url: `https://${DOMAIN}/`, isSitemap: false, depth: 0, rank: 0 };
  await frontier.begin(DOMAIN, [start], { isNow: false, maxPages: 50 });
  await frontier.take(DOMAIN, 9, Date.now());
  await frontier.add(DOMAIN, [{ key: url.slice(8), url, isSitemap: false, depth: 1, rank: 2 }]);
  const page = await frontier.take(DOMAIN, 9, Date.now());
  if (page === null || typeof page === "number") throw new Error("no page is due");
  const person = { firstName: "Vaduz", lastName: "Vandermolen", position: null, phoneNumber: null };
  const contacts = [{ address: `vv@${DOMAIN}`, ...person, networkAUrl: null, networkB: null }];
  const visit = { uri: url, key: page.key, organization: null, etag: null, modified: null, digest: "d" };
  await storeVisit(database, page, { kind: "read", contacts, ...visit }, async () => new Set(), Date.now());
  expect(await occurrences("vandermolen")).toBeGreaterThan(0);
  expect(await source.erase(`vv@${DOMAIN}`)).toBe(1);
  expect(await occurrences("vandermolen")).toBe(0);
  await database.close();
});

test("an erased domain leaves no byte in the files of an embedded database", async () => {
  const { database, source, occurrences } = await storedPeople(7000);
  expect(await source.eraseDomain(DOMAIN)).toBe(7001);
  for (const text of ["zanzibar", "Zeppelin", "zeppelin", "Zoltanus", "Quirke", "Zanzibar Trading", DOMAIN]) {
    expect(await occurrences(text), text).toBe(0);
  }
  await database.close();
});

test("close empties the log of an embedded database", async () => {
  const { database, source, occurrences } = await storedPeople(50);
  await source.erase(`zanzibar1x@${DOMAIN}`);
  await database.close();
  expect(await occurrences("Zoltanus1x")).toBe(0);
});
