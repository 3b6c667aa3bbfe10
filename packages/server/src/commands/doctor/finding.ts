/** The result of one check of `outrigger doctor`. */
export interface Finding {
  /** Name of the check, e.g. `free space`. */
  check: string;
  /** A warning affects some pictures or clients, or will become a problem. */
  status: "ok" | "warning" | "problem";
  /** The state found, without a full stop. */
  detail: string;
  /** What to do about it, without a full stop; absent if ok. */
  remedy?: string;
}

export function ok(check: string, detail: string): Finding {
  return { check, status: "ok", detail };
}

export function warning(check: string, detail: string, remedy: string): Finding {
  return { check, status: "warning", detail, remedy };
}

export function problem(check: string, detail: string, remedy: string): Finding {
  return { check, status: "problem", detail, remedy };
}

/** @param text A sentence with the state, and a sentence with the remedy. */
export function warningOf(check: string, text: string): Finding {
  const [, detail = text, remedy = ""] = /^(.*?)\. ([^.]*)\.?$/s.exec(text) ?? [];
  return warning(check, detail, remedy);
}

/** A finding as one line for people. */
export function lineOf({ check, status, detail, remedy }: Finding): string {
  const advice = remedy === undefined ? "" : `. ${remedy}.`;
  return `${status.padEnd("problem".length)}  ${check}: ${detail}${advice}\n`;
}
