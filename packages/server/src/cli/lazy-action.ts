import { type Part, requireParts } from "./parts.ts";

/**
 * The action of a command, loaded when the command runs. Loading the modules of all commands would more than double the start
 * time.
 * @param load Imports the module of the action.
 * @param part A part that the module needs.
 */
export function lazyAction<Args extends unknown[]>(
  load: () => Promise<(...args: Args) => Promise<void>>,
  part?: Part,
): (...args: Args) => Promise<void> {
  return async (...args) => {
    if (part !== undefined) await requireParts([part]);
    await (await load())(...args);
  };
}
