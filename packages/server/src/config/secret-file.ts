import { readFile } from "node:fs/promises";
import { reasonOf } from "../cli/error-reason.ts";
import { checkConfig } from "./check-config.ts";
import { ConfigError } from "./config-error.ts";
import type { ServerConfig } from "./server-config.ts";

const VARIABLE = "OUTRIGGER_SECRET_FILE";

/**
 * The secret from the file that the environment names: one in each line, of which the first signs and all verify.
 * @returns Nothing where none is named.
 * @throws ConfigError, which repeats nothing of the file.
 */
export async function readSecretFile(environment: NodeJS.ProcessEnv): Promise<Pick<ServerConfig, "secret">> {
  const path = environment[VARIABLE] ?? "";
  if (path === "") return {};
  if ((environment.OUTRIGGER_SECRET ?? "") !== "") {
    throw problem("must not be given beside OUTRIGGER_SECRET: drop one of them");
  }
  const text = await readFile(path, "utf8").catch((cause) => {
    throw problem(`cannot be read: ${reasonOf(cause)}`);
  });
  const secret = text.split(/\r?\n/).filter((line) => line !== "");
  if (secret.length === 0) throw problem("is empty");
  return checkConfig({ secret }, "The environment", () => VARIABLE);
}

function problem(what: string): ConfigError {
  return new ConfigError("The environment", [`${VARIABLE}: ${what}`]);
}
