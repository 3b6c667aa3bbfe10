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

/** All contacts of the demonstration, as NDJSON for an import. */
export function sampleLines(): string {
  const people = Object.entries(PEOPLE).flatMap(([domain, rows]) =>
    rows.map(([local, firstName, lastName, position, confidence, ...pages]) =>
      lineOf(`${local}@${domain}`, { firstName, lastName, position, confidence }, pages),
    ),
  );
  const departments = DEPARTMENTS.map((address) =>
    lineOf(address, { type: "generic", confidence: 80 }, ["/contact"]),
  );
  return [...people, ...departments].join("");
}

function lineOf(address: string, fields: object, pages: readonly string[]): string {
  const domain = address.slice(address.indexOf("@") + 1);
  const organization = Object.entries(SAMPLE_ORGANIZATIONS).find(([name]) => name === domain)?.[1];
  const sources = pages.map((page) => ({
    sourceDomain: domain,
    sourceUri: `https://www.${domain}${page}`,
    extractedOn: "2025-03-10",
    lastSeenOn: "2026-09-21",
    stillOnPage: true,
  }));
  return `${JSON.stringify({ address, ...fields, organization, sources })}\n`;
}
