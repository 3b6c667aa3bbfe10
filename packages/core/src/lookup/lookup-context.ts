import type { Accounts } from "../contracts/accounts.ts";
import type { ContactSource } from "../contracts/contact-source.ts";
import type { MailLists } from "../contracts/mail-prober.ts";
import type { Meter } from "./accounts/meter.ts";
import type { LookupSettings } from "./lookup-settings.ts";
import type { Suppressions } from "./suppressions.ts";
import type { Verifier } from "./verify/verifier.ts";

/** The dependencies that the operations of one lookup share. */
export interface LookupContext {
  contacts: ContactSource;
  accounts: Accounts;
  suppressions: Suppressions;
  meter: Meter;
  verifier: Verifier;
  /** Webmail and disposable domains; `null`: none are known. */
  lists: MailLists | null;
  settings: LookupSettings;
}
