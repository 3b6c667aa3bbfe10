import { isError } from "../../errors.ts";
/** What an error and those underneath say, in one line without a full stop. */
export function reasonIn(error: unknown): string {
  const said: string[] = [];
  for (let each = error; each !== undefined && each !== null; ) {
    const [line = ""] = (isError(each) ? each.message : String(each)).split("\n");
    const text = line.replace(/\.$/, "");
    if (text !== "" && !said.some((other) => other.includes(text))) said.push(text);
    each = isError(each) ? each.cause : null;
  }
  return said.join(": ");
}
