import { contactOf, createLookupSite, createScriptedProber, LISTS } from "./lookup-site.ts";

const ADA = contactOf("ada.lovelace@example.com", {
  ...{ firstName: "Ada", lastName: "Lovelace", position: "Chief Analyst", confidence: 94 },
  ...{ seniority: "executive", department: "it", networkA: "ada", networkAUrl: "https://n.example/ada" },
});
const SALES = contactOf("sales@example.com", { type: "generic", department: "sales" });
export const known = [ADA, SALES, contactOf("grace.hopper@example.com", { seniority: "senior" })];
const organizations = { "example.com": "Example" };
export const CONFIRMED = { server: true, mailbox: true, acceptsAll: false };

export type Site = Awaited<ReturnType<typeof createLookupSite>>;

/** The searches and verifications that the account has used. */
export async function used(site: Site): Promise<unknown> {
  const { body } = await site.get("account");
  const { searches, verifications } = Object(body.data?.requests) as Record<string, { used: number }>;
  return [searches?.used, verifications?.used];
}

/** A promise that the test resolves. */
export function createGate(): { opened: Promise<void>; open(): void } {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

/** A lookup with known contacts, whose prober confirms every address. */
export function siteOf(options: Parameters<typeof createLookupSite>[0] = {}): Promise<Site> {
  const prober = createScriptedProber(async () => CONFIRMED);
  return createLookupSite({ known, organizations, prober, lists: LISTS, ...options });
}
