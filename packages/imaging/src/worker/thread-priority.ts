import { readdirSync } from "node:fs";
import { getPriority, setPriority } from "node:os";

/**
 * Gives every thread of this process the priority of its first one. On Linux a priority is a thread's: those that Node had
 * started before the parent could lower it have their own.
 */
export function alignThreadPriorities(): void {
  try {
    const priority = getPriority();
    for (const thread of readdirSync("/proc/self/task")) setPriority(Number(thread), priority);
  } catch {
    // No such files, or a thread that has just ended: what is left is less polite, and works as well.
  }
}
