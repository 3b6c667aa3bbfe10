import { checkOptions } from "../../check-options.ts";
import { type Options, oneOf, required, text } from "../../option-rules.ts";
import { REPORT_DECISIONS } from "../reports/report-case.ts";
import type { ImageReport } from "../reports/reports.ts";
import { ACT_RULES } from "./act-rules.ts";
import type { LifeContext } from "./create-life.ts";

const MAX_NOTE_LENGTH = 1000;

const FILTER_RULES = {
  /** @default both */
  state: oneOf("open", "decided"),
};

/** Which reports to list. */
export interface ReportFilter extends Options<typeof FILTER_RULES> {}

const DECIDE_RULES = {
  /** `kept`: the image stays. The others only state what was done; `withhold` and `remove` do it, and decide the reports too. */
  decision: required(oneOf(...REPORT_DECISIONS)),
  /** The reason, 1 to 1000 characters. Clients never see it. */
  note: text(
    `a text of 1 to ${MAX_NOTE_LENGTH} characters`,
    (note) => note.trim() !== "" && note.length <= MAX_NOTE_LENGTH,
  ),
  ...ACT_RULES,
};

/** A decision about the reports of an image. */
export interface DecideOptions extends Options<typeof DECIDE_RULES> {}

/** The reports that clients have sent. */
export interface ReportAdmin {
  /**
   * Lists reports: `intimate_image` and `child_abuse` first, then those of more clients, then by `dueAt`. Those of one image
   * until its decision are one. For operators: the texts are untrusted, and the contacts are for you alone.
   */
  list(filter?: ReportFilter): AsyncGenerator<ImageReport>;
  /**
   * Decides the open report of an image. Contacts are erased 90 days later, the rest after a year. Rejects with `conflict` if it is
   * decided, with `not_found` if the image was not reported, and with a TypeError for options out of range.
   */
  decide(id: string, options: DecideOptions): Promise<void>;
}

/** The reports of a storage. */
export function reportAdminOf({
  guard,
  reports,
  settings,
}: Pick<LifeContext, "guard" | "reports" | "settings">): ReportAdmin {
  return {
    async *list(filter) {
      const { state } = checkOptions("reports.list", filter, FILTER_RULES);
      await guard.open();
      yield* reports.list(state);
    },
    async decide(id, options) {
      const checked = checkOptions("reports.decide", options, DECIDE_RULES);
      await guard.open();
      const { decision, note, by } = checked;
      try {
        await reports.decide(id, checked, true);
      } finally {
        const decided = await reports.lastDecided(id);
        // `withhold` and `remove` log their own. A repetition finds what a killed process decided.
        if (decision === "kept" && decided?.decision?.decision === "kept") {
          settings.log.info({ id, reason: note, act: decided.reference, by }, "image kept");
        }
      }
    },
  };
}
