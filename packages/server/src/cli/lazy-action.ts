/**
 * The work of a command, loaded when that is run: what other commands need would more than double the time until this one
 * begins.
 * @param load imports the module that has it.
 */
export function lazyAction<Args extends unknown[]>(
  load: () => Promise<(...args: Args) => Promise<void>>,
): (...args: Args) => Promise<void> {
  return async (...args) => (await load())(...args);
}
