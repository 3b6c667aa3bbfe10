import { OutriggerError } from "@outrigger/client";
import { printFailure } from "../../cli/print-out.ts";
import { StartError } from "../../config/config-error.ts";
import { failureText, isHopeless } from "./failure-text.ts";

/** One of several things that are done to a service. */
export interface Task {
  /** Precedes its failure. Printable. */
  name: string;
  /** Of the service that it is done to. */
  baseUrl: string;
  run(): Promise<void>;
}

/**
 * Runs one task after the other. A failure is printed on the standard error and makes the exit code 1. The other tasks still
 * run, unless they could only fail in the same way.
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

/** Does one thing. @throws StartError saying why the service did not. */
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
