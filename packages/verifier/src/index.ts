export type { MailListsOptions } from "./lists/mail-lists.ts";
export { createMailLists } from "./lists/mail-lists.ts";
export type { VerifyingProber } from "./mail-prober.ts";
export { createMailProber } from "./mail-prober.ts";
export type {
  ConnectTarget,
  MailProberOptions,
  SmtpIdentity,
} from "./prober-options.ts";
