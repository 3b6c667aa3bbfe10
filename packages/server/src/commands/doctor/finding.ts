/** The result of one check of `outrigger doctor`. */
export interface Finding {
  /** Name of the check, e.g. `free space`. */
  check: string;
  /** A warning affects some pictures or clients, or will become a problem. */
  status: "ok" | "warning" | "problem";
  /** The state found. Without a full stop, unless it includes its remedy. */
  detail: string;
  /** What to do about it, without a full stop. */
  remedy?: string;
}

export function ok(check: string, detail = "as expected"): Finding {
  return { check, status: "ok", detail };
}

/** @param fault What is wrong; `false` if nothing is. @param state The detail if nothing is wrong. */
export function warning(check: string, fault: string | false, remedy: string, state?: string): Finding {
  return fault === false ? ok(check, state) : { check, status: "warning", detail: fault, remedy };
}

/** Like {@link warning}, for a fault that needs a fix. */
export function problem(check: string, fault: string | false, remedy: string, state?: string): Finding {
  return fault === false ? ok(check, state) : { check, status: "problem", detail: fault, remedy };
}

/** A finding as one line for people. */
export function lineOf({ check, status, detail, remedy }: Finding): string {
  const advice = remedy === undefined ? "" : `. ${remedy}.`;
  return `${status.padEnd("problem".length)}  ${check}: ${detail}${advice}\n`;
}
