import type { Contact } from "../../contracts/contact-source.ts";

export const SAMPLE_DOMAIN = "example.com";
export const SAMPLE_ORGANIZATION = "Example";

/** The person in the fixed answers for the test key. */
export const SAMPLE_CONTACT: Contact = {
  address: "ada.lovelace@example.com",
  type: "personal",
  confidence: 94,
  firstName: "Ada",
  lastName: "Lovelace",
  position: "Chief Analyst",
  seniority: "executive",
  department: "executive",
  networkA: "ada-lovelace",
  networkAUrl: "https://network.example/in/ada-lovelace",
  networkB: "adalovelace",
  phoneNumber: "+44 20 7946 0123",
  verification: { status: "valid", date: "2026-01-15" },
  evidence: [
    {
      domain: "example.com",
      uri: "https://example.com/about",
      extractedOn: "2025-01-15",
      lastSeenOn: "2026-01-15",
      stillOnPage: true,
    },
  ],
};
