import type { ContactField, FieldMapping } from "@outrigger/sql";
import { InvalidArgumentError } from "commander";
import { ConfigError } from "../../../config/config-error.ts";

export type ContactFormat = "csv" | "ndjson";

/** The fields that `--map` can name. */
const FIELDS: Readonly<Record<ContactField, true>> = {
  address: true,
  type: true,
  confidence: true,
  firstName: true,
  lastName: true,
  fullName: true,
  position: true,
  seniority: true,
  department: true,
  networkA: true,
  networkAUrl: true,
  networkB: true,
  phoneNumber: true,
  verificationStatus: true,
  verificationDate: true,
  domain: true,
  organization: true,
  sourceDomain: true,
  sourceUri: true,
  extractedOn: true,
  lastSeenOn: true,
  stillOnPage: true,
};

const FORMATS: readonly (readonly [ContactFormat, RegExp])[] = [
  ["csv", /\.csv$/i],
  ["ndjson", /\.(?:ndjson|jsonl)$/i],
];

/** The text of `--map`: `address=Email,firstName=Given name`. A repeated option adds to the earlier ones. */
export function parseMapping(text: string, previous: FieldMapping = {}): FieldMapping {
  const mapping = { ...previous };
  // A column name may contain commas.
  for (const pair of text.split(/,(?=[A-Za-z_]+=)/)) {
    const [, name = "", column = ""] = /^([A-Za-z_]+)=(.+)$/s.exec(pair.trim()) ?? [];
    const field = fieldOf(name);
    if (field === null) {
      throw new InvalidArgumentError(
        `It must be field=column,… with fields of ${Object.keys(FIELDS).join(", ")}.`,
      );
    }
    mapping[field] = column;
  }
  return mapping;
}

/** Accepts `first_name`, as in exports, for `firstName`. */
function fieldOf(name: string): ContactField | null {
  const camel = name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
  const key = Object.keys(FIELDS).find((each) => each === camel);
  // A key of FIELDS.
  return (key as ContactField | undefined) ?? null;
}

/**
 * The format of a file: as typed, or from the suffix of its name.
 * @throws ConfigError if neither determines it.
 */
export function formatOf(file: string, typed: ContactFormat | undefined): ContactFormat {
  const found = typed ?? FORMATS.find(([, ending]) => ending.test(file))?.[0];
  if (found !== undefined) return found;
  const what = file === "-" ? "the standard streams" : file;
  throw new ConfigError("The command line", [`--format: is required for ${what}: csv or ndjson`]);
}
