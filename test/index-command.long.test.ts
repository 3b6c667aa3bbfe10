import { expect, it } from "vitest";
import { createIndexSite, DOMAIN, pageOf } from "../packages/page-index/test/index-site.ts";
import { command, createLookupPlace } from "../packages/server/test/lookup-place.ts";
import { outriggerIndex } from "../packages/server/test/outrigger-process.ts";

const CONTACT = ["--contact", "https://robot.example/"];

/** A place with a secret, and the command on its database. */
async function createIndexPlace() {
  const place = await createLookupPlace();
  const env = { ...place.env, OUTRIGGER_SECRET: "a secret of more than thirty-two bytes" };
  const start = (...args: string[]) => outriggerIndex(args, { cwd: place.cwd, env });
  return {
    run: (...args: string[]) => command(place.cwd, args, env),
    start,
    async index(...args: string[]) {
      const { exit, output } = start(...args);
      return { code: await exit, ...output };
    },
  };
}

it("outrigger-index fills an empty database, exports true sources, and its second run shows what changed", async () => {
  const place = await createIndexPlace();
  const site = await createIndexSite({ "/": pageOf([], ["/team"]), "/team": pageOf(["Ada Lovelace"]) });
  const index = (...more: string[]) =>
    place.index(DOMAIN, ...CONTACT, "--internal-host", site.host, "--delay", "0", ...more);
  const first = await index();
  expect([first.code, first.stdout]).toEqual([
    0,
    `${DOMAIN}: 2 pages read, 0 unchanged, 0 not allowed; 1 addresses added, 0 updated, 0 no longer there.\n`,
  ]);
  const exported = await place.run("contacts", "export", "-", "--format", "ndjson");
  expect(JSON.parse(exported.stdout).sources).toMatchObject([
    { uri: `${site.origin}/team`, still_on_page: true },
  ]);
  const idle = await index("--json");
  expect([idle.code, JSON.parse(idle.stdout)]).toEqual([
    0,
    expect.objectContaining({ read: 0, unchanged: 0 }),
  ]);
  await place.run("contacts", "erase", `ada.lovelace@${DOMAIN}`);
  site.pages.set("/team", pageOf(["Ada Lovelace", "Alan Turing"]));
  expect(JSON.parse((await index("--json", "--now")).stdout)).toMatchObject({ read: 1, added: 1 });
  site.pages.set("/robots.txt", "User-agent: *\nDisallow: /");
  const forbidden = await index("--now");
  expect([forbidden.code, forbidden.stdout]).toEqual([0, expect.stringContaining("2 not allowed")]);
});

it("outrigger-index exits with 1 while no page could ever be read, and when a run stopped early, not when nothing is due", async () => {
  const place = await createIndexPlace();
  const site = await createIndexSite({ "/robots.txt": "User-agent: *\nDisallow: /" });
  const index = () => place.index(DOMAIN, ...CONTACT, "--internal-host", site.host, "--delay", "0");
  const none = await index();
  expect([none.code, none.stderr]).toEqual([1, expect.stringContaining("no page could be read")]);
  site.pages.set("/robots.txt", "User-agent: *\nDisallow: /x");
  site.pages.set("/", pageOf([], ["/x1", "/x2", "/a", "/b", "/c"]));
  for (const path of ["/a", "/b", "/c"]) site.pages.set(path, (_req, res) => res.writeHead(403).end());
  const refused = await index();
  expect([refused.code, refused.stderr]).toEqual([
    1,
    expect.stringContaining("3 refusals one after another"),
  ]);
  for (const path of ["/a", "/b", "/c"]) site.pages.set(path, pageOf([]));
  expect((await index()).code).toBe(0);
  const idle = await index();
  expect([idle.code, idle.stdout]).toEqual([0, expect.stringContaining("0 pages read, 0 unchanged, 2 not")]);
});

it("outrigger-index ends cleanly on a signal, and run again it requests no page twice", async () => {
  const place = await createIndexPlace();
  const links = Array.from({ length: 8 }, (_, page) => `/team/${page}`);
  const pages = links.map((link) => [link, pageOf(["Ada Lovelace"])]);
  const site = await createIndexSite({ "/": pageOf([], links), ...Object.fromEntries(pages) });
  const args = [DOMAIN, ...CONTACT, "--internal-host", site.host];
  const running = place.start(...args, "--delay", "200");
  await expect.poll(() => site.timesMs.length, { interval: 5 }).toBeGreaterThan(5);
  running.child.kill("SIGINT");
  expect(await running.exit).toBe(130);
  expect(running.output.stderr).toContain("Run the same command again to continue");
  expect((await place.index(...args, "--delay", "0")).code).toBe(0);
  const asked = site.requests().filter((request) => request.startsWith("200 /team"));
  expect(asked.sort()).toEqual(links.map((link) => `200 ${link}`));
});

it("outrigger-index reads a domain that is given twice once, and takes several internal hosts before it", async () => {
  const place = await createIndexPlace();
  const site = await createIndexSite({ "/": pageOf([], ["/gone"]) });
  const hosts = ["--internal-host", `blog.${DOMAIN}:8080`, "--internal-host", site.host];
  const { code, stdout } = await place.index(...CONTACT, "--delay", "0", ...hosts, DOMAIN, `www.${DOMAIN}`);
  expect(code).toBe(0);
  expect(stdout.split("\n")).toEqual([
    expect.stringMatching(`^${DOMAIN}: 1 pages read`),
    `  1 × status 404, such as ${site.origin}/gone`,
    "",
  ]);
});

it("outrigger-index names a wrong domain, a missing --contact and a wrong host, and exits with 2", async () => {
  const place = await createIndexPlace();
  for (const [args, reason] of [
    [["localhost", ...CONTACT], "localhost is not the domain of an organisation"],
    [["co.uk", ...CONTACT], "co.uk is not the domain"],
    [["acme.localhost", "co.uk", ...CONTACT], "co.uk is not the domain"],
    [["acme.example"], "--contact"],
    [["acme.example", ...CONTACT, "--internal-host", "http://a"], "internalHosts must be a list of hosts"],
  ] as const) {
    const { code, stderr } = await place.index(...args);
    expect([code, stderr]).toEqual([2, expect.stringContaining(reason)]);
  }
});
