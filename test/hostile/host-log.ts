import { vi } from "vitest";

export interface HostLog {
  /** The log without entries about broken connections. */
  unexpected(): string[];
  /** Restores logging. */
  restore(): void;
}

/** Koa's default entry for every connection that its client broke, whichever middleware served it. */
const BROKEN_CONNECTION =
  /^(?:Error: (?:Parse Error|Premature close|(?:read|write) (?:ECONNRESET|EPIPE))\b|$)/;

/** Collects what the host app logs from now on; hostile requests must not fill its log. */
export function keepHostLog(): HostLog {
  const lines: string[] = [];
  const spy = vi
    .spyOn(console, "error")
    .mockImplementation((...said) => lines.push(said.map(String).join(" ").trim()));
  return {
    unexpected: () => lines.filter((line) => !BROKEN_CONNECTION.test(line)),
    restore: () => spy.mockRestore(),
  };
}
