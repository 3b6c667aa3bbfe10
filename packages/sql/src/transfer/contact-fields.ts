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

/** Texts of a line by field. Empty texts are absent. */
export type FieldTexts = Partial<Record<ContactField, string>>;
