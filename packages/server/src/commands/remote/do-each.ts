import { OutriggerError } from "@outrigger/client";
import { printFailure } from "../../cli/print-out.ts";
import { StartError } from "../../config/config-error.ts";
import { failureText, isHopeless } from "./failure-text.ts";

/** One of several requests to a service. */
export interface Task {
  /** Printed before its failure. Safe to print. */
  name: string;
  /** Address of the service. */
  baseUrl: string;
  run(): Promise<void>;
}

/**
 * Runs tasks one by one. Prints a failure on standard error and sets the exit code to 1. Continues with the other tasks unless
 * they would fail in the same way.
 */
export async function doEach(tasks: readonly Task[], signal: AbortSignal): Promise<void> {
  for (const [index, { name, baseUrl, run }] of tasks.entries()) {
    signal.throwIfAborted();
    try {
      await run();
    } catch (error) {
      if (signal.aborted) throw error;
      if (error instanceof StartError) {
        printFailure(error.message);
        continue;
      }
      if (!(error instanceof OutriggerError)) throw error;
      printFailure(`${name}: ${failureText(error, baseUrl)}`);
      if (!isHopeless(error)) continue;
      const left = tasks.length - index - 1;
      if (left > 0) printFailure(`${left} more ${left === 1 ? "was" : "were"} not tried`);
      return;
    }
  }
}

/** Runs one request. @throws StartError with the reason of its failure. */
export async function doOne<Result>(
  name: string,
  baseUrl: string,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (cause) {
    if (!(cause instanceof OutriggerError)) throw cause;
    throw new StartError(`${name}: ${failureText(cause, baseUrl)}`, { cause });
  }
}
