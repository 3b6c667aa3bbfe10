import type { Department, Seniority } from "../../contracts/contact-source.ts";

/** What a job title says; `null` where it does not. */
export interface TitleClass {
  department: Department | null;
  seniority: Seniority | null;
}

/** The department and seniority that a job title tells of. */
export function classifyTitle(position: string): TitleClass {
  return {
    department: /sales/i.test(position) ? "sales" : null,
    seniority: /chief|ceo/i.test(position) ? "executive" : null,
  };
}
