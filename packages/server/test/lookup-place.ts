import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { outrigger, serve, temporaryDirectory } from "./outrigger-process.ts";

/** The fields of lookup replies that tests use. */
export interface LookupBody {
  data: {
    emails: { value: string }[];
    email: string | null;
    total: number;
    status: string;
    position: string | null;
    requests: { searches: { used: number; available: number } };
  };
  meta: { results: number };
  errors: { id: string; code: number; details: string }[];
}

/** Sends a request to the lookup of a server. */
export async function ask(url: string, operation: string, parameters: Record<string, string>) {
  const response = await fetch(`${url}/v2/${operation}?${new URLSearchParams(parameters)}`);
  const body = (await response.json()) as LookupBody; // The tests of core verify this shape.
  return { status: response.status, body, headers: response.headers };
}

/** Runs a command to its end. */
export async function command(cwd: string, args: readonly string[], env: Record<string, string> = {}) {
  const { exit, output } = outrigger(args, { cwd, env });
  return { code: await exit, ...output };
}

export const HEADER = "email,first_name,last_name,position,company,source_url";
export const PEOPLE = [
  "ann.lee@acme.example,Ann,Lee,CEO,Acme,https://acme.example/team",
  "bob.ray@acme.example,Bob,Ray,CTO,Acme,https://acme.example/team",
  "cy.poe@acme.example,Cy,Poe,Sales Manager,Acme,https://acme.example/team",
  "eve@other.example,Eve,Hart,Lawyer,Other,https://other.example/",
];
const SECRET = "a secret of more than thirty-two bytes";

/**
 * A directory with {@link PEOPLE} in `people.csv`, and the environment with its database for servers and commands.
 * @param postgres Address of the database. @default an embedded one in the data directory
 */
export async function createLookupPlace(postgres?: string) {
  const cwd = await temporaryDirectory();
  await writeFile(join(cwd, "people.csv"), `${[HEADER, ...PEOPLE].join("\n")}\n`);
  // The first server stores a secret in the data directory; PostgreSQL needs a configured one.
  const env: Record<string, string> =
    postgres === undefined
      ? { OUTRIGGER_LOOKUP_DATABASE: "file:./data/lookup.db" }
      : { OUTRIGGER_LOOKUP_DATABASE: postgres, OUTRIGGER_SECRET: SECRET };
  return {
    cwd,
    env,
    run: (...args: string[]) => command(cwd, args, env),
    serve: (...args: string[]) => serve(cwd, args, env),
    async createKey(...args: string[]) {
      const { code, stdout, stderr } = await command(cwd, ["keys", "create", "--json", ...args], env);
      if (code !== 0) throw new Error(stderr);
      return JSON.parse(stdout) as { account: string; key: string }; // The command prints this shape.
    },
  };
}
