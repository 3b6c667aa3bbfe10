import { vi } from "vitest";

export interface HostLog {
  /** What was written but for connections that broke. */
  unexpected(): string[];
  /** Lets the log be written again. */
  restore(): void;
}

/** What Koa by default writes of every connection that its client broke, to whatever middleware it belonged. */
const BROKEN_CONNECTION =
  /^(?:Error: (?:Parse Error|Premature close|(?:read|write) (?:ECONNRESET|EPIPE))\b|$)/;

/** Keeps what the host app writes to its log from now on, which is nothing that we may fill it with. */
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
