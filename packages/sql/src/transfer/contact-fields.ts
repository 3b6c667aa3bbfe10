/** The fields of a contact that a file can contain. */
export const CONTACT_FIELDS = [
  "address",
  "type",
  "confidence",
  "firstName",
  "lastName",
  "fullName",
  "position",
  "seniority",
  "department",
  "networkA",
  "networkAUrl",
  "networkB",
  "phoneNumber",
  "verificationStatus",
  "verificationDate",
  "domain",
  "organization",
  "sourceDomain",
  "sourceUri",
  "extractedOn",
  "lastSeenOn",
  "stillOnPage",
] as const;
export type ContactField = (typeof CONTACT_FIELDS)[number];

/** The file's column or key for each field, instead of the names that are recognised for the field. */
export type FieldMapping = Partial<Record<ContactField, string>>;

/**
 * Further recognised names of fields, in lower case without spaces and signs. A field's own name is also
 * recognised.
 */
const OTHER_NAMES: FieldNames = {
  address: ["email", "emailaddress", "mail", "value"],
  firstName: ["givenname"],
  lastName: ["surname", "familyname"],
  fullName: ["name"],
  position: ["jobtitle", "title"],
  phoneNumber: ["phone", "telephone"],
  organization: ["organisation", "company"],
  sourceUri: ["uri", "url", "source", "sourceurl"],
};

type FieldNames = Partial<Record<ContactField, readonly string[]>>;

const FIELD_BY_NAME = new Map<string, ContactField>(
  CONTACT_FIELDS.flatMap((field) =>
    [field.toLowerCase(), ...(OTHER_NAMES[field] ?? [])].map((name) => [name, field] as const),
  ),
);

/** Returns a function that maps a column to its field; `null` for an unknown column. */
export function createFieldFinder(mapping: FieldMapping): (column: string) => ContactField | null {
  const mapped = new Map<string, ContactField>();
  for (const field of CONTACT_FIELDS) {
    const column = mapping[field];
    if (column !== undefined) mapped.set(column.trim(), field);
  }
  return (column) => {
    const own = mapped.get(column.trim());
    if (own !== undefined) return own;
    const field = FIELD_BY_NAME.get(column.toLowerCase().replaceAll(/[^a-z]/g, "")) ?? null;
    return field === null || mapping[field] !== undefined ? null : field;
  };
}
