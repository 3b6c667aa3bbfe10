import { isRoleName, parseMailboxes } from "@outrigger/core/lookup";
import { contactOf, type FoundContact } from "./found-contact.ts";
import { fittedName, type PersonName, personName } from "./person-names.ts";

type Data = { readonly [key: string]: unknown };

const PERSON = /(?:^|[/:])(?:Person|Physician|Patient)$/;
const ORGANIZATION =
  /(?:Organi[sz]ation|Business|Corporation|Company|Store|School|University|Restaurant|Hotel|Service|Office|Firm|Attorney|Clinic|Hospital|NGO|Agency|Dentist|Library|Museum|Institut\w*|Brand)$/;
const MAX_DEPTH = 40;
const MAX_OBJECTS = 20_000;

/** The people and organisations of JSON-LD. @param isFamilyFirst As Hungarian pages write names. */
export function readStructured(
  texts: readonly string[],
  isFamilyFirst: boolean,
): { contacts: FoundContact[]; organization: string | null } {
  const objects: Data[] = [];
  for (const text of texts) collect(parsed(text), objects, 0);
  const byId = new Map(
    objects.filter((object) => Object.keys(object).length > 1).map((object) => [object["@id"], object]),
  );
  const valuesOf = (object: Data, ...names: string[]): unknown[] =>
    names
      .flatMap((name) => object[name] ?? [])
      .map((value) =>
        isData(value) && typeof value["@id"] === "string" ? (byId.get(value["@id"]) ?? value) : value,
      );
  const textOf = (object: Data, ...names: string[]): string | null =>
    valuesOf(object, ...names)
      .map(valueText)
      .find((text) => text !== null) ?? null;
  const isA = (object: Data, type: RegExp) =>
    valuesOf(object, "@type").some((each) => type.test(String(each)));
  const nameOf = (person: Data, local: string): PersonName | null => {
    const [firstName, lastName] = [textOf(person, "givenName"), textOf(person, "familyName")];
    if (firstName !== null && lastName !== null) return { firstName, lastName };
    const name = personName(textOf(person, "name") ?? "", isFamilyFirst);
    return name === null ? null : fittedName(name, local);
  };
  const contacts = objects.flatMap((object) => {
    const isPerson = isA(object, PERSON);
    const points = isPerson ? valuesOf(object, "contactPoint", "contactPoints").filter(isData) : [];
    const all = [object, ...points];
    const phone = all.map((each) => textOf(each, "telephone")).find((text) => text !== null) ?? null;
    const position = textOf(object, "jobTitle", "hasOccupation");
    const profiles = valuesOf(object, "sameAs", "url").filter((each) => typeof each === "string");
    return all
      .flatMap((each) => valuesOf(each, "email"))
      .flatMap((email) => (typeof email === "string" ? parseMailboxes(email) : []))
      .map(({ address: { address, local } }) => {
        const name = isPerson && !isRoleName(local) ? nameOf(object, local) : null;
        const role = { name, position: null, phone, profiles: [] };
        return contactOf(address, name === null ? role : { name, position, phone, profiles });
      });
  });
  const organizations = objects.filter((object) => isA(object, ORGANIZATION));
  const organization =
    organizations.map((each) => textOf(each, "name")).find((name) => name !== null) ?? null;
  return { contacts, organization };
}

function valueText(value: unknown): string | null {
  const text = isData(value) ? (value.name ?? value["@value"] ?? value.title) : value;
  return typeof text === "string" && text.trim() !== "" ? text.trim() : null;
}

function isData(value: unknown): value is Data {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function collect(value: unknown, objects: Data[], depth: number): void {
  if (depth > MAX_DEPTH || objects.length > MAX_OBJECTS || typeof value !== "object" || value === null)
    return;
  if (isData(value)) objects.push(value);
  for (const each of Object.values(value)) collect(each, objects, depth + 1);
}

/** JSON as pages write it: within comments, with line breaks in texts and commas before brackets. `null` for another text. */
function parsed(text: string): unknown {
  const plain = text
    .replace(/^\s*(?:\/\/\s*)?<!(?:--|\[CDATA\[)|(?:\/\/\s*)?(?:-->|\]\]>)\s*$/g, "")
    .replaceAll(/\p{Cc}+/gu, " ")
    .replaceAll(/,(?=\s*[}\]])/g, "")
    .replace(/;\s*$/, "");
  try {
    return JSON.parse(plain);
  } catch {
    return null; // Not JSON.
  }
}
