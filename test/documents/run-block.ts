/**
 * Runs the code of a block with what its reader has.
 * @param given Values by name; `modules` are those that the block may import.
 * @returns the value of `result`, an expression.
 */
export async function runBlock(
  code: string,
  { modules, ...given }: Record<string, unknown> & { modules: Record<string, unknown> },
  result = "undefined",
): Promise<unknown> {
  const body = code.replace(/^import (?:(\w+)|(\{.*\})) from "(.*)";$/gm, (_, whole, names, name) => {
    return `const ${whole ?? names} = MODULES[${JSON.stringify(name)}];`;
  });
  const values = { MODULES: modules, ...given };
  const run = new Function(...Object.keys(values), `return (async () => { ${body}\nreturn ${result}; })()`);
  return await run(...Object.values(values));
}
