/**
 * The action of a command, loaded when the command runs. Loading the modules of all commands would more than double the start
 * time.
 * @param load Imports the module of the action.
 */
export function lazyAction<Args extends unknown[]>(
  load: () => Promise<(...args: Args) => Promise<void>>,
): (...args: Args) => Promise<void> {
  return async (...args) => (await load())(...args);
}
