import { expect, test } from "vitest";
import { contactOf, createLookupSite } from "../../test/lookup-site.ts";

const PEOPLE = [
  ["john.ingram@example.com", "John W.", "Ingram"],
  ["mary.smith@example.com", "Mary", "Smith Jr."],
  ["jgarcia@example.com", "José", "García Márquez"],
  ["wang.xm@example.com", "小明", "王"],
  ["minjun.kim@example.com", "민준", "김"],
  ["adam.lee@example.com", "Adam", "Lee"],
  ["ivan.sidorov@example.com", "Иван", "Сидоров"],
] as const;
const known = PEOPLE.map(([address, firstName, lastName]) =>
  contactOf(address, { firstName, lastName, confidence: 90 }),
);

test.each([
  ["full_name=John W. Ingram", "john.ingram@example.com", 90],
  ["full_name=John Ingram", "john.ingram@example.com", 90],
  ["first_name=John&last_name=Ingram III", "john.ingram@example.com", 90],
  ["full_name=Smith Jr., Mary", "mary.smith@example.com", 90],
  ["full_name=Mary Smith | CEO at Example", "mary.smith@example.com", 90],
  ["full_name=王 小明", "wang.xm@example.com", 90],
  ["full_name=王小明", "wang.xm@example.com", 90],
  ["full_name=김 민준", "minjun.kim@example.com", 90],
  ["full_name=Сидоров Иван Петрович", "ivan.sidorov@example.com", 90],
  ["full_name=José García", "jgarcia@example.com", 67],
  ["full_name=Lee Adam", "adam.lee@example.com", 67],
])("email-finder finds the known person of %s", async (query, email, score) => {
  const site = await createLookupSite({ known });
  const { body } = await site.get("email-finder", `domain=example.com&${encodeURI(query)}`);
  expect(body.data).toMatchObject({ email, score });
});

test.each([
  ["full_name=John B. Ingram", null],
  ["full_name=Ingram, John B.", null],
  ["full_name=Smith Sr., Mary", null],
  ["full_name=Mary Smith III", null],
  ["first_name=Mary&last_name=Smith Sr.", null],
  ["full_name=Пётр Олегович Котов", null],
  ["full_name=Ingram B. John", null],
  ["full_name=Пётр Ильич Котов", "kotov@example.com"],
])(
  "email-finder finds no known person with other initials, suffixes or patronymics: %s",
  async (query, email) => {
    const kotov = contactOf("kotov@example.com", {
      firstName: "Пётр Ильич",
      lastName: "Котов",
      confidence: 90,
    });
    const site = await createLookupSite({ known: [...known, kotov] });
    const { body } = await site.get("email-finder", `domain=example.com&${encodeURI(query)}`);
    if (email === null) expect(known.map(({ address }) => address)).not.toContain(body.data?.email);
    else expect(body.data).toMatchObject({ email, score: 90 });
  },
);

test("the reply to a full name without a known person has no initials and suffixes", async () => {
  const site = await createLookupSite({ known });
  const { body } = await site.get("email-finder", "domain=example.com&full_name=Zoe%20W.%20Woods%20Jr.");
  expect(body.data).toMatchObject({ first_name: "Zoe", last_name: "Woods" });
});

test("a turned name finds no one if several people fit, and a known person of that order comes first", async () => {
  const turned = ["lee.adam1@example.com", "lee.adam2@example.com"].map((address) =>
    contactOf(address, { firstName: "Lee", lastName: "Adam" }),
  );
  const both = await createLookupSite({ known: [...known, ...turned] });
  const search = "domain=example.com&full_name=Lee%20Adam";
  expect((await both.get("email-finder", search)).body.data).toMatchObject({
    email: "lee.adam1@example.com",
  });
  const { body } = await both.get("email-finder", "domain=example.com&full_name=Ingram%20John");
  expect(body.data).toMatchObject({ email: "john.ingram@example.com", first_name: "John W." });
  const several = await createLookupSite({ known: turned });
  const found = await several.get("email-finder", "domain=example.com&full_name=Adam%20Lee");
  expect(found.body.data?.email).not.toMatch(/^lee\.adam[12]@/);
});

test("a suppressed person is not found by the turned name", async () => {
  const site = await createLookupSite({ known });
  await site.lookup.suppress("adam.lee@example.com");
  await site.contacts.load({ contacts: known });
  const { status } = await site.get("email-finder", "domain=example.com&full_name=Lee%20Adam");
  expect(status).toBe(451);
});
