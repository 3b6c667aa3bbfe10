import assert from "node:assert/strict";
import { type Contact, MAX_EVIDENCE } from "@outrigger/core/lookup";
import { type ContactSourceTest, contactOf, evidenceOf, inOrder, personOf, randomDomain } from "./samples.ts";

/** A known name, and other usual spellings of it. */
const USUAL_SPELLINGS: readonly (readonly [string, ...string[]])[] = [
  ["Yuri Scherbakov", "Yury Shcherbakov", "Юрий Щербаков"],
  ["Юлия Иванова", "Julia Ivanova", "Yuliya Ivanova", "Iuliia Ivanova"],
  ["Aleksandr Hryhorenko", "Alexander Grigorenko", "Олександр Григоренко"],
  ["Γιώργος Παπαδόπουλος", "Giorgos Papadopoulos", "George Papadopoulos"],
  ["محمد الخطيب", "Mohamed Al-Khatib", "Muhammad El Khatib"],
  ["Shimon Peretz", "שמעון פרץ"],
  ["민준 김", "Min-jun Kim", "Minjun Gim"],
];

/** First and last name, divided at the first space. */
function split(name: string): [first: string, last: string] {
  const at = name.indexOf(" ");
  return [name.slice(0, at), name.slice(at + 1)];
}

/** Facts about single addresses and names. */
export function peopleBehaviour(it: ContactSourceTest): void {
  it("find returns every loaded field of an address", async ({ source, domain, load }) => {
    const full: Contact = {
      address: `zoë.o'neil+x@${domain}`,
      type: "generic",
      confidence: 97,
      firstName: 'Zoë "Z" \\',
      lastName: "O’Neil, von 𐐨",
      position: "Chief\tOfficer\nof 'quotes'",
      seniority: "executive",
      department: "communication",
      networkA: "zoe",
      networkAUrl: "https://network.example/in/zoe?a=1&b=%20",
      networkB: "@zoe",
      phoneNumber: "+41 44 000 00 00",
      evidence: [
        evidenceOf(`https://www.${domain}/team?x={1}`),
        evidenceOf(`https://other.example/${domain}`, {
          extractedOn: "1999-12-31",
          lastSeenOn: "2000-02-29",
          stillOnPage: false,
        }),
      ],
    };
    const bare = contactOf(`bare@${domain}`, { confidence: 0 });
    await load({ contacts: [full, bare] });
    assert.deepEqual(await source.find(full.address), full);
    assert.deepEqual(await source.find(bare.address), bare);
    assert.equal(await source.find(`x${bare.address}`), null);
    assert.equal(await source.find(domain), null);
    const page = await source.search(domain, {}, { limit: 10, offset: 0 });
    assert.deepEqual(page.contacts, [full, bare]);
  });

  it("find returns the most recently seen pages first, those without dates last, and at most MAX_EVIDENCE", async (scope) => {
    const { source, domain, load } = scope;
    const days = [3, 17, 1, 28, 9, 2, 25, 14, 6, 11, 22, 5, 19, 8, 27, 4, 13, 21, 10, 16, 7, 24, 12, 26, 15];
    const evidence = days.map((day) =>
      evidenceOf(`https://www.${domain}/${day}`, { lastSeenOn: `2026-05-${String(day).padStart(2, "0")}` }),
    );
    await load({ contacts: [contactOf(`a@${domain}`, { evidence })] });
    const found = (await source.find(`a@${domain}`))?.evidence ?? [];
    const expected = evidence
      .toSorted((a, b) => ((a.lastSeenOn ?? "") < (b.lastSeenOn ?? "") ? 1 : -1))
      .slice(0, MAX_EVIDENCE);
    assert.equal(found.length, MAX_EVIDENCE);
    assert.deepEqual(found, expected);
    const undated = evidenceOf(`https://www.${domain}/`, { extractedOn: null, lastSeenOn: null });
    await load({ contacts: [contactOf(`b@${domain}`, { evidence: [undated, ...evidence.slice(0, 1)] })] });
    assert.deepEqual((await source.find(`b@${domain}`))?.evidence, [...evidence.slice(0, 1), undated]);
  });

  it("findByName finds a name in any spelling, and only in its domain", async (scope) => {
    const { source, domain, load } = scope;
    const other = randomDomain();
    const müller = personOf(domain, "j.mueller", "Jörg", "Müller");
    const vanDyke = personOf(domain, "a.vandyke", "Anne-Marie", "van Dyke");
    await load({
      contacts: [müller, vanDyke, personOf(other, "jm", "Jörg", "Müller"), contactOf(`nameless@${domain}`)],
    });
    for (const [names, expected] of [
      [["Jörg Müller", "JÖRG MÜLLER", "jorg Mueller", "Joerg muller"], [müller]],
      [["annemarie vandyke"], [vanDyke]],
      [["Müller Jörg", "Jörg Müllers", "J Müller", "Jör gMüller", "% %"], []],
    ] as const) {
      for (const name of names) {
        assert.deepEqual(await source.findByName(domain, ...split(name)), expected, name);
      }
    }
    assert.deepEqual(await source.findByName(domain, "Anne Marie", "Van Dyke"), [vanDyke]);
  });

  it("findByName finds a name in another usual spelling or script if no person has this spelling", async (scope) => {
    const { source, domain, load } = scope;
    for (const [index, [known, ...spellings]] of USUAL_SPELLINGS.entries()) {
      const at = `${index}.${domain}`;
      const person = personOf(at, "p", ...split(known));
      await load({ contacts: [person, personOf(at, "other", split(known)[0], "Zimmermann")] });
      for (const name of spellings) {
        assert.deepEqual(await source.findByName(at, ...split(name)), [person], `${known} as ${name}`);
      }
    }
    const exact = personOf(domain, "yuliya", "Yuliya", "Petrova");
    await load({ contacts: [exact, { ...personOf(domain, "julia", "Julia", "Petrova"), confidence: 90 }] });
    assert.deepEqual(await source.findByName(domain, "Yuliya", "Petrova"), [exact]);
    // `Юлия` may be either, although only the transliteration of one has its key.
    assert.deepEqual(await source.findByName(domain, "Юлия", "Петрова"), []);
  });

  it("findByName ignores initials, suffixes and patronymics of the known and of the given name", async (scope) => {
    const { source, domain, load } = scope;
    const john = personOf(domain, "john", "John W.", "Ingram Jr.");
    const ivan = personOf(domain, "ivan", "Иван Петрович", "Сидоров");
    await load({ contacts: [john, ivan] });
    const known: readonly [typeof john, readonly string[]][] = [
      [john, ["John Ingram", "John|Ingram Jr.", "John W.|Ingram", "John W. R.|Ingram", "john|ingram"]],
      [ivan, ["Иван|Сидоров", "Иван Петрович|Сидоров", "Ivan|Sidorov", "Ivan P.|Sidorov"]],
    ];
    for (const [person, names] of known) {
      for (const name of names) {
        const [first = "", last = ""] = name.split(name.includes("|") ? "|" : " ");
        assert.deepEqual(await source.findByName(domain, first, last), [person], name);
      }
    }
    assert.deepEqual(await source.findByName(domain, "J.", "Ingram"), []);
  });

  it("findByName tells people apart by initials, suffixes and patronymics that both names have", async (scope) => {
    const { source, domain, load } = scope;
    const named = (local: string, first: string, last: string, confidence: number) => ({
      ...personOf(domain, local, first, last),
      confidence,
    });
    const a = named("a", "John A.", "Ingram", 90);
    const w = named("w", "John W.", "Ingram", 50);
    const senior = named("sr", "Robert", "Smith Sr.", 90);
    const junior = named("jr", "Robert", "Smith Jr.", 50);
    const petr = named("petr", "Иван Петрович", "Сидоров", 90);
    const oleg = named("oleg", "Иван Олегович", "Сидоров", 50);
    await load({ contacts: [a, w, senior, junior, petr, oleg] });
    for (const [first, last, expected] of [
      ["John W.", "Ingram", [w]],
      ["John", "Ingram", [a, w]],
      ["John B.", "Ingram", []],
      ["Robert", "Smith Junior", [junior]],
      ["Robert", "Smith III", []],
      ["Robert J.", "Smith", [senior, junior]],
      ["Иван Олегович", "Сидоров", [oleg]],
      ["Ivan Olegovich", "Sidorov", [oleg]],
      ["Иван Ильич", "Сидоров", []],
    ] as const) {
      assert.deepEqual(await source.findByName(domain, first, last), expected, `${first} ${last}`);
    }
    const plain = named("plain", "John", "Ingram", 99);
    await load({ contacts: [plain] });
    assert.deepEqual(await source.findByName(domain, "John W.", "Ingram"), [w, plain]);
    assert.deepEqual(await source.findByName(domain, "John", "Ingram"), [plain, a, w]);
  });

  it("findByName finds a person by the first of two surnames, unless several people fit", async (scope) => {
    const { source, domain, load } = scope;
    const other = randomDomain();
    const jose = personOf(domain, "jose", "José", "García Márquez");
    const ana = personOf(domain, "ana", "Ana", "Pérez");
    const namesakes = ["García Ruiz", "García Soto"].map((last, at) =>
      personOf(other, `j${at}`, "José", last),
    );
    await load({ contacts: [jose, ana, ...namesakes] });
    assert.deepEqual(await source.findByName(domain, "Jose", "Garcia"), [jose]);
    assert.deepEqual(await source.findByName(domain, "Ana", "Pérez Soto"), [ana]);
    assert.deepEqual(await source.findByName(other, "José", "García"), []);
    assert.deepEqual(await source.findByName(domain, "José", "García Ruiz"), []);
    assert.deepEqual(await source.findByName(domain, "José", "Márquez"), []);
    assert.deepEqual(await source.findByName(domain, "José", "Garc"), []);
  });

  it("findByName finds no person by a spelling that several have, or by a similar name", async (scope) => {
    const { source, domain, load } = scope;
    const names = ["Julia Petrova", "Yulia Petrova", "Aleksandra Petrova", "Kristian Hansen", "Mohammed Ali"];
    const people = [...names, "محمود حسن", "薇 王", "Ji-yeon Kim", "Sara Smith"];
    await load({ contacts: people.map((name, index) => personOf(domain, `p${index}`, ...split(name))) });
    const similar = ["Yuliya Petrova", "Юлия Петрова", "Alexander Petrov", "Christian Hansen", "Mahmoud Ali"];
    for (const name of [...similar, "Mohammed Hassan", "伟 王", "Ji-young Kim", "Sarah Smith"]) {
      assert.deepEqual(await source.findByName(domain, ...split(name)), [], name);
    }
  });

  it("findByName returns the ten contacts of highest confidence if many share a name", async (scope) => {
    const { source, domain, load } = scope;
    const namesakes = Array.from({ length: 14 }, (_, index) => ({
      ...personOf(domain, `ann${(index * 5) % 14}`, "Ann", "Lee"),
      confidence: [20, 90, 55][index % 3] ?? 0,
    }));
    await load({ contacts: namesakes });
    assert.deepEqual(await source.findByName(domain, "Ann", "Lee"), inOrder(namesakes).slice(0, 10));
  });
}
