import { isRoleName, parseMailboxes, profileHandle, profileUrl } from "@outrigger/core/lookup";
import { type FoundContact, firstOf } from "./found-contact.ts";
import { personName } from "./person-names.ts";

type Data = { readonly [key: string]: unknown };

const PERSON = /(?:^|[/:])(?:Person|Physician|Patient)$/;
const ORGANIZATION =
  /(?:Organi[sz]ation|Business|Corporation|Company|Store|School|University|Restaurant|Hotel|Service|Office|Firm|Attorney|Clinic|Hospital|NGO|Agency|Dentist|Library|Museum|Institut\w*|Brand)$/;
const MAX_DEPTH = 40;
const MAX_OBJECTS = 20_000;

/** The people and organisations of JSON-LD. */
export function readStructured(texts: readonly string[]): {
  contacts: FoundContact[];
  organization: string | null;
} {
  const objects: Data[] = [];
  for (const text of texts) collect(parsed(text), objects, 0);
  const byId = new Map(
    objects.flatMap((object) =>
      typeof object["@id"] === "string" && Object.keys(object).length > 1
        ? [[object["@id"], object] as const]
        : [],
    ),
  );
  const resolve = (value: unknown): unknown =>
    isData(value) && typeof value["@id"] === "string" && Object.keys(value).length === 1
      ? byId.get(value["@id"])
      : value;
  const contacts: FoundContact[] = [];
  for (const object of objects) {
    const isPerson = listOf(object["@type"]).some((type) => PERSON.test(String(type)));
    const points = listOf(object.contactPoint ?? object.contactPoints)
      .map(resolve)
      .filter(isData);
    const addresses = [object, ...(isPerson ? points : [])].flatMap(({ email }) =>
      listOf(email).flatMap((each) => (typeof each === "string" ? parseMailboxes(each) : [])),
    );
    const phone = [object, ...(isPerson ? points : [])]
      .flatMap(({ telephone }) => listOf(telephone).map(valueText))
      .find((each) => each !== null);
    const profiles = [...listOf(object.sameAs), ...listOf(object.url)].flatMap((each) =>
      typeof each === "string" ? [each] : [],
    );
    const name = isPerson ? namesOfData(object) : null;
    for (const { address } of addresses) {
      const isOf = name !== null && !isRoleName(address.local);
      contacts.push({
        address: address.address,
        firstName: isOf ? name.firstName : null,
        lastName: isOf ? name.lastName : null,
        position: isOf
          ? (listOf(object.jobTitle ?? object.hasOccupation)
              .map(resolve)
              .map(valueText)
              .find((each) => each !== null) ?? null)
          : null,
        phoneNumber: phone ?? null,
        networkAUrl: isOf ? firstOf(profiles, profileUrl) : null,
        networkB: isOf ? firstOf(profiles, profileHandle) : null,
      });
    }
  }
  const organization = objects.find(
    (object) =>
      listOf(object["@type"]).some((type) => ORGANIZATION.test(String(type))) &&
      valueText(object.name) !== null,
  );
  return { contacts, organization: organization === undefined ? null : valueText(organization.name) };
}

function namesOfData(person: Data): { firstName: string; lastName: string } | null {
  const [firstName, lastName] = [valueText(person.givenName), valueText(person.familyName)];
  if (firstName !== null && lastName !== null) return { firstName, lastName };
  const name = listOf(person.name)
    .map(valueText)
    .find((each) => each !== null);
  return name === undefined || name === null ? null : personName(name);
}

function valueText(value: unknown): string | null {
  const text = isData(value) ? (value.name ?? value["@value"] ?? value.title) : value;
  return typeof text === "string" && text.trim() !== "" ? text.trim() : null;
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : value === undefined || value === null ? [] : [value];
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

/** JSON as pages write it: within comments, with line breaks in texts and commas before brackets. */
function parsed(text: string): unknown {
  const plain = text.replace(/^\s*(?:\/\/\s*)?<!(?:--|\[CDATA\[)|(?:\/\/\s*)?(?:-->|\]\]>)\s*$/g, "");
  for (const written of [
    plain,
    plain
      .replaceAll(/\p{Cc}+/gu, " ")
      .replaceAll(/,(?=\s*[}\]])/g, "")
      .replace(/;\s*$/, ""),
  ]) {
    try {
      return JSON.parse(written);
    } catch {
      // The next one may be valid.
    }
  }
  return null;
}
