import { type Contact, type ContactEvidence, classifyTitle } from "@outrigger/core/lookup";

/** Names of organizations by sample domain. These domains are reserved (RFC 2606). */
export const SAMPLE_ORGANIZATIONS = { "example.com": "Example Engines", "example.org": "Example Institute" };

/** Local part, first and last name, position, confidence, and the pages of the domain that show the address. */
type SampleRow = readonly [
  local: string,
  firstName: string,
  lastName: string,
  position: string,
  confidence: number,
  ...pages: string[],
];

/** People from the history of computing, in invented roles. */
const PEOPLE: Readonly<Record<keyof typeof SAMPLE_ORGANIZATIONS, readonly SampleRow[]>> = {
  "example.com": [
    ["ada.lovelace", "Ada", "Lovelace", "Chief Analyst", 97, "/about", "/team", "/blog/notes-on-the-engine"],
    ["charles.babbage", "Charles", "Babbage", "Chief Executive Officer", 96, "/about", "/team"],
    ["grace.hopper", "Grace", "Hopper", "Head of Engineering", 95, "/team", "/talks"],
    ["alan.turing", "Alan", "Turing", "Senior Software Engineer", 94, "/team", "/papers/1936"],
    ["katherine.johnson", "Katherine", "Johnson", "Chief Financial Officer", 93, "/team", "/investors"],
    ["dorothy.vaughan", "Dorothy", "Vaughan", "HR Manager", 91, "/team", "/jobs"],
    ["claude.shannon", "Claude", "Shannon", "Communications Director", 90, "/press"],
    ["hedy.lamarr", "Hedy", "Lamarr", "Marketing Manager", 89, "/press", "/blog/spread-spectrum"],
    ["konrad.zuse", "Konrad", "Zuse", "Operations Manager", 88, "/team"],
    ["jean.bartik", "Jean", "Bartik", "Junior Developer", 86, "/team"],
    ["betty.holberton", "Betty", "Holberton", "Product Designer", 85, "/team", "/blog/sorting"],
    ["edsger.dijkstra", "Edsger", "Dijkstra", "General Counsel", 83, "/legal"],
    ["mary.jackson", "Mary", "Jackson", "Sales Manager", 82, "/contact"],
    ["john.von.neumann", "John", "von Neumann", "Support Engineer", 78, "/support"],
  ],
  "example.org": [
    ["kbooth", "Kathleen", "Booth", "Director", 95, "/people", "/history"],
    ["mwilkes", "Maurice", "Wilkes", "Professor", 92, "/people"],
    ["cstrachey", "Christopher", "Strachey", "Lecturer", 90, "/people", "/courses"],
    ["ksparckjones", "Karen", "Spärck Jones", "Head of Research", 89, "/people"],
    ["ddavies", "Donald", "Davies", "Network Engineer", 84, "/people"],
  ],
};

/** Addresses of departments rather than people. */
const DEPARTMENTS = ["info@example.com", "sales@example.com", "support@example.com", "press@example.org"];

/** All contacts of the demonstration. */
export function sampleContacts(): Contact[] {
  const people = Object.entries(PEOPLE).flatMap(([domain, rows]) =>
    rows.map(([local, firstName, lastName, position, confidence, ...pages]) => ({
      ...contactAt(`${local}@${domain}`, confidence, pages),
      ...classifyTitle(position),
      firstName,
      lastName,
      position,
    })),
  );
  const departments = DEPARTMENTS.map((address) => ({
    ...contactAt(address, 80, ["/contact"]),
    type: "generic" as const,
  }));
  return [...people, ...departments];
}

function contactAt(address: string, confidence: number, pages: readonly string[]): Contact {
  const domain = address.slice(address.indexOf("@") + 1);
  return {
    address,
    type: "personal",
    confidence,
    firstName: null,
    lastName: null,
    position: null,
    seniority: null,
    department: null,
    networkA: null,
    networkAUrl: null,
    networkB: null,
    phoneNumber: null,
    evidence: pages.map(
      (page): ContactEvidence => ({
        domain,
        uri: `https://www.${domain}${page}`,
        extractedOn: "2025-03-10",
        lastSeenOn: "2026-09-21",
        stillOnPage: true,
      }),
    ),
  };
}
