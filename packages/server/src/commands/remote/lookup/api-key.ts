import { readFile } from "node:fs/promises";
import { reasonOf } from "../../../cli/error-reason.ts";
import { printable } from "../../../cli/printable.ts";
import { ConfigError } from "../../../config/config-error.ts";

const VARIABLE = "OUTRIGGER_API_KEY";
/** What a header can carry. */
const KEY = /^[!-~]+$/;

/**
 * The key to the lookup: the first line of a file, else what the environment says.
 * @throws ConfigError where there is none, which repeats nothing of a key.
 */
export async function readApiKey(
  file: string | undefined,
  environment: NodeJS.ProcessEnv = process.env,
): Promise<string> {
  if (file === undefined) {
    return checked(
      environment[VARIABLE] ?? "",
      `${VARIABLE}: must be a key, or --key-file name a file with one`,
    );
  }
  const text = await readFile(file, "utf8").catch((cause) => {
    throw problem(`--key-file: ${printable(file)} cannot be read: ${reasonOf(cause)}`);
  });
  return checked(text.split("\n", 1)[0] ?? "", `--key-file: ${printable(file)} has no key in its first line`);
}

function checked(text: string, otherwise: string): string {
  const key = text.trim();
  if (KEY.test(key)) return key;
  throw problem(otherwise);
}

function problem(what: string): ConfigError {
  return new ConfigError("The key to the lookup", [what]);
}
