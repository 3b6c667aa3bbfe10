import { createMailLists } from "@outrigger/verifier";
import { afterEach, beforeEach, expect } from "vitest";
import {
  createMailWorld,
  type MailWorld,
  type TestProberOptions,
} from "../../packages/verifier/test/mail-world.ts";
import type { Peer } from "../support/hostile-mail-server.ts";
import type { MailServer } from "../support/mail-server.ts";
import type { Answer } from "./ask.ts";
import { type LookupSite, startLookupSite, type TestLookupOptions } from "./lookup-site.ts";

/** A lookup that queries the test's own name servers and mail servers. */
export interface MailSite extends LookupSite {
  /** `GET …/v2/email-verifier` for an address. */
  verify(email: string, search?: string): Promise<Answer>;
  /** Only the verdict. */
  verdict(email: string): Promise<unknown>;
  /** Points used in this month. */
  used(): Promise<{ searches: number; verifications: number }>;
}

/** @param world whose servers are running: the prober uses their port. */
export async function startMailSite(
  world: MailWorld,
  { prober = {}, ...options }: Omit<TestLookupOptions, "prober"> & { prober?: TestProberOptions } = {},
): Promise<MailSite> {
  const site = await startLookupSite({
    prober: world.prober(prober),
    lists: createMailLists({ addWebmail: ["webmail.test"], addDisposable: ["trash.test"] }),
    ...options,
  });
  const verify = (email: string, search = "") =>
    site.get("email-verifier", `email=${encodeURIComponent(email)}${search}`);
  return {
    ...site,
    verify,
    async verdict(email) {
      const { status, body } = await verify(email);
      return {
        http: status,
        status: body.data?.status,
        result: body.data?.result,
        reason: body.data?.reason,
      };
    },
    async used() {
      const { body } = await site.get("account");
      // The API's own form, which other tests check.
      const requests = body.data?.requests as Record<"searches" | "verifications", { used: number }>;
      return { searches: requests.searches.used, verifications: requests.verifications.used };
    },
  };
}

type MailSiteOptions = Parameters<typeof startMailSite>[1];

/**
 * A name server and a mail server for each test of a file. After the test none may have had an unexpected command, and no
 * site an error. @returns starts a site, which is closed after the test.
 */
export function mailSitesForEach(
  onStarted: (made: { world: MailWorld; mail: MailServer }) => void,
): (options?: MailSiteOptions) => Promise<MailSite> {
  let world: MailWorld;
  let sites: MailSite[];
  // Each test starts servers, which share the machine with everything else.
  beforeEach(async () => {
    world = await createMailWorld({
      "null.test": { MX: [[0, "."]] },
      "servfail.test": { rcode: 2 },
      "nothing.test": {},
      "hidden.test": { MX: [[10, "mx.hidden.test"]] },
      "mx.hidden.test": { A: ["10.1.2.3"] },
    });
    const mail = await world.mailServer();
    for (const name of ["people", "xn--bcher-kva", "catchall", "webmail", "trash", "left"]) {
      world.route(`${name}.test`, mail.host);
    }
    sites = [];
    onStarted({ world, mail });
  });
  afterEach(async () => {
    for (const site of sites) {
      expect(site.errors).toEqual([]);
      await site.close();
    }
    await world.close();
  });
  return async (options) => {
    const site = await startMailSite(world, options);
    sites.push(site);
    return site;
  };
}

/** Acts as a mail server with one mailbox, for which it replies as given. */
export async function serveMailbox(peer: Peer, local: string, reply: () => string): Promise<void> {
  peer.send("220 mx.test ESMTP\r\n");
  for (let line = await peer.line(); line !== null && line !== "QUIT"; line = await peer.line()) {
    const isOther = line.startsWith("RCPT") && !line.includes(`<${local}@`);
    const answer = isOther ? "550 5.1.1 No such user" : line.startsWith("RCPT") ? reply() : "250 OK";
    peer.send(`${answer}\r\n`);
  }
  peer.socket.end("221 Bye\r\n");
}

export { createMailWorld, type MailWorld };
