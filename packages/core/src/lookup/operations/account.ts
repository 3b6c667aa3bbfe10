import { createHash } from "node:crypto";
import type { QuotaKind } from "../../contracts/accounts.ts";
import { monthOf, nextMonthMs } from "../accounts/meter.ts";
import type { AccountAnswer } from "../answers.ts";
import type { LookupOperation } from "./operation.ts";

/** The number that clients receive for an unlimited allowance. */
const UNLIMITED = 1_000_000_000;

export const accountOperation: LookupOperation<null, AccountAnswer["data"], object, object> = {
  parameters: [],
  check: () => null,
  echo: () => ({}),

  async work({ accounts, settings }, _, account) {
    // Its route requires a key.
    if (account === null) throw new Error("The account operation needs an account");
    const nowMs = settings.now();
    const used = await accounts.usage(account.id, monthOf(nowMs), nowMs);
    const allowance = settings.allowanceOf(account);
    const available = (kind: QuotaKind) => allowance[kind] ?? UNLIMITED;
    return {
      data: {
        first_name: account.firstName,
        last_name: account.lastName,
        email: account.email,
        plan_name: capitalised(account.plan),
        plan_level: 0,
        reset_date: dateOf(nextMonthMs(nowMs)),
        team_id: teamId(account.id),
        calls: {
          used: used.searches + used.verifications,
          available: available("searches") + available("verifications"),
        },
        requests: {
          searches: { used: used.searches, available: available("searches") },
          verifications: { used: used.verifications, available: available("verifications") },
        },
      },
      meta: {},
    };
  },

  sample: ({ settings }) => ({
    data: {
      first_name: "Ada",
      last_name: "Lovelace",
      email: "ada.lovelace@example.com",
      plan_name: "Free",
      plan_level: 0,
      reset_date: dateOf(nextMonthMs(settings.now())),
      team_id: 1,
      calls: { used: 0, available: 200 },
      requests: {
        searches: { used: 0, available: 100 },
        verifications: { used: 0, available: 100 },
      },
    },
    meta: {},
  }),
};

/** Clients expect an integer: the first 31 bits of a digest of the account's ID. */
function teamId(account: string): number {
  return createHash("sha256").update(account).digest().readUInt32BE(0) >>> 1;
}

function capitalised(plan: string): string {
  return plan.charAt(0).toUpperCase() + plan.slice(1);
}

function dateOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}
