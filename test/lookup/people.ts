import type { Contact } from "@outrigger/core/lookup";

/** A person at example.com with every field, apart from the given changes. */
export function personOf(address: string, more: Partial<Contact> = {}): Contact {
  const name = address.slice(0, address.indexOf("@"));
  return {
    address,
    type: "personal",
    confidence: 90,
    firstName: "Ada",
    lastName: "Lovelace",
    position: "Head of Engineering",
    seniority: "senior",
    department: "it",
    networkA: name,
    networkAUrl: `https://network.example/in/${name}`,
    networkB: name,
    phoneNumber: "+44 20 7946 0000",
    evidence: [
      {
        domain: "example.com",
        uri: `https://example.com/team/${name}`,
        extractedOn: "2025-06-01",
        lastSeenOn: "2026-02-01",
        stillOnPage: true,
      },
    ],
    ...more,
  };
}

export const ADA = personOf("ada.lovelace@example.com", { confidence: 94 });
export const GRACE = personOf("grace.hopper@example.com", { firstName: "Grace", lastName: "Hopper" });
export const SALES = personOf("sales@example.com", {
  type: "generic",
  confidence: 60,
  firstName: null,
  lastName: null,
  position: null,
  seniority: null,
  department: "sales",
  networkA: null,
  networkAUrl: null,
  networkB: null,
  phoneNumber: null,
});

export const PEOPLE = [ADA, GRACE, SALES];

/** This many people known only by their address, `p000@domain` and so on. */
export function crowdOf(domain: string, count: number): Contact[] {
  return Array.from({ length: count }, (_, index) =>
    personOf(`p${String(index).padStart(3, "0")}@${domain}`, {
      firstName: null,
      lastName: null,
      evidence: [],
    }),
  );
}
