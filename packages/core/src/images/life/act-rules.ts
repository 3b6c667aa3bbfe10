import { type Options, text } from "../../option-rules.ts";

export const ACT_RULES = {
  /** Who does this, for the log and the decision of reports: 1 to 256 characters. @default no name */
  by: text("a name of 1 to 256 characters", (name) => name.trim() !== "" && name.length <= 256),
};

/** Names the operator of an act. */
export interface ActOptions extends Options<typeof ACT_RULES> {}
