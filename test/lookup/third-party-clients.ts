import EmailHunter from "hunter.io";
import HunterSdk from "hunterio";
import { Hunterio } from "node-hunterio";
import { redirectHttps } from "./redirect-https.mjs";

/** A client's view of a reply. */
export type Outcome = { body: unknown } | { refusal: unknown };

/** node-hunterio 1.5.0: throws for statuses from 300 on, with the reply in the error. */
export function nodeHunterio(base: string, key: string): Hunterio {
  const client = new Hunterio(key);
  // Private only in its types; there is no other way to set the host.
  Reflect.set(client, "apiBase", `${base}/v2`);
  return client;
}

export async function outcomeOf(call: Promise<unknown>): Promise<Outcome> {
  try {
    return { body: await call };
  } catch (error) {
    const response: unknown = Reflect.get(Object(error), "response");
    return {
      refusal: {
        status: Reflect.get(Object(response), "status"),
        body: Reflect.get(Object(response), "data"),
      },
    };
  }
}

/** hunterio 1.0.0: passes on the body of every status. */
export function hunterio(base: string, key: string) {
  const client = new HunterSdk(key);
  client.client.host = `${base}/v2/`;
  type Operation = "domainSearch" | "emailFinder" | "emailVerifier" | "emailCount" | "account" | "listLeads";
  return (operation: Operation, query: Record<string, string | number | undefined> = {}) =>
    new Promise<{ status: number; body: unknown }>((resolve, reject) => {
      client[operation](query, (error, body, response) => {
        if (error === null) resolve({ status: response.statusCode, body });
        else reject(error);
      });
    });
}

/** hunter.io 0.2.7, whose host is fixed. `lines` are the requests that it made. Call `restore` at the end. */
export function hunterDotIo(base: string, key: string) {
  const lines: string[] = [];
  // Its bundled HTTP library uses this process' own.
  const restore = redirectHttps(base, (line) => lines.push(line));
  const client = new EmailHunter(key);
  return {
    client,
    lines,
    /** Runs one call of the client: its error is the callback's. */
    run: (call: (client: EmailHunter, done: (error: unknown, body?: unknown) => void) => Promise<void>) =>
      new Promise<Outcome>((resolve, reject) => {
        call(client, (refusal, body) =>
          resolve(refusal === null || refusal === undefined ? { body } : { refusal }),
        ).catch(reject);
      }),
    restore,
  };
}
