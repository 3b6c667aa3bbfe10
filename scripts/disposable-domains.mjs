// Refreshes packages/verifier/data from the newest public lists of disposable domains: node scripts/disposable-domains.mjs
// With a directory as argument, it reads the packages from there and installs nothing.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { domainToASCII } from "node:url";
import { brotliCompressSync } from "node:zlib";

const DATA = join(import.meta.dirname, "../packages/verifier/data");
/** Maintainers of this list review each entry, so one mention is enough. */
const REVIEWED = "disposable-email-domains-js";
/** Lists of disposable domains, each with a way to read it. */
const SOURCES = {
  [REVIEWED]: (load) => load("dist/dict/disposable_email_blocklist.json"),
  mailchecker: (load) => load("platform/node/index.js").blacklist(),
  "burner-email-providers": (_, read) => read("emails.txt").split(/\s+/),
  "disposable-domains": (load) => load("index.json"),
};
/** Lists of webmail, which tell where the others may be wrong, and public suffixes. */
const REFERENCES = ["free-email-domains", "email-providers", "tldts"];
/** Providers that the lists name, and where people keep mailboxes for years. */
const LASTING = new Set(["21cn.com", "lavabit.com", "safe-mail.net", "sify.com", "vfemail.net"]);
const PERMITTED = new Set(["CC0-1.0", "MIT"]);
/** A list that shrinks by more than this share is broken, or its format has changed. */
const MAX_LOSS = 0.2;

const given = process.argv[2];
const directory = given ?? mkdtempSync(join(tmpdir(), "disposable-domains-"));
try {
  const names = [...Object.keys(SOURCES), ...REFERENCES];
  if (given === undefined) install(names);
  refresh();
} finally {
  if (given === undefined) rmSync(directory, { recursive: true, force: true });
}

function install(names) {
  const { status } = spawnSync(
    "npm",
    ["install", "--prefix", directory, "--ignore-scripts", "--no-audit", "--no-fund", ...names],
    { stdio: "inherit", shell: process.platform === "win32" },
  );
  if (status !== 0) throw new Error("npm install failed");
}

function refresh() {
  const require = createRequire(join(directory, "index.js"));
  const placeOf = (name, file) => join(directory, "node_modules", name, file);
  const lists = Object.entries(SOURCES).map(([name, list]) => {
    const read = (file) => readFileSync(placeOf(name, file), "utf8");
    const domains = [...list((file) => require(placeOf(name, file)), read)];
    return { name, domains: new Set(domains.map(normalised).filter(Boolean)) };
  });
  const webmail = new Set(require("free-email-domains"));
  const alsoWebmail = new Set(require("email-providers/all.json"));
  const { parse } = require("tldts");

  /** In how many lists a domain must be. A wrong entry makes an address of a real person unwelcome. */
  function needed(domain, names) {
    const { publicSuffix, domain: registrable } = parse(domain);
    if (registrable === null || LASTING.has(registrable)) return Number.POSITIVE_INFINITY;
    if (names.includes(REVIEWED)) return 1;
    if (parse(domain, { allowPrivateDomains: true }).domain === null) return Number.POSITIVE_INFINITY;
    // Registries of these names admit only institutions.
    if (/(?:^|\.)(?:edu|gov|mil|int)$|^(?:ac|gov|mil)\.[a-z]{2}$/.test(publicSuffix))
      return Number.POSITIVE_INFINITY;
    const isWebmail = webmail.has(domain) || (alsoWebmail.has(domain) && !names.includes("mailchecker"));
    if (isWebmail || registrable.indexOf(".") <= 4) return 3;
    return parse(domain, { allowPrivateDomains: true }).domain === domain ? 1 : 2;
  }

  const all = new Set(lists.flatMap(({ domains }) => [...domains]));
  const kept = new Set(
    [...all].filter((domain) => {
      const names = lists.filter(({ domains }) => domains.has(domain)).map(({ name }) => name);
      return names.length >= needed(domain, names);
    }),
  );
  // An entry covers its subdomains.
  const entries = [...kept].filter((domain) => !parentsOf(domain).some((parent) => kept.has(parent)));
  const before = previousCount();
  if (entries.length < before * (1 - MAX_LOSS))
    throw new Error(`Only ${entries.length} of ${before} entries remain`);

  mkdirSync(DATA, { recursive: true });
  // In the order of code units: the reader searches by halving.
  writeFileSync(join(DATA, "disposable-domains.txt.br"), brotliCompressSync(entries.sort().join("\n")));
  writeFileSync(join(DATA, "disposable-domains.md"), noticeOf(lists, entries.length));
  for (const { name, domains } of lists) {
    const ours = [...domains].filter((domain) => [domain, ...parentsOf(domain)].some((one) => kept.has(one)));
    console.log(`${name}: ${ours.length} of ${domains.size}`);
  }
  console.log(`${entries.length} entries, ${before} before`);
}

function normalised(text) {
  const domain = domainToASCII(text.trim().replace(/^[@.*]+/, ""));
  return /^(?=.{4,253}$)[a-z0-9_-]+(?:\.[a-z0-9_-]+)+$/.test(domain) ? domain : null;
}

function parentsOf(domain) {
  const labels = domain.split(".");
  return labels.slice(1, -1).map((_, index) => labels.slice(index + 1).join("."));
}

function previousCount() {
  try {
    return Number(
      /^(\d+) domains/m.exec(readFileSync(join(DATA, "disposable-domains.md"), "utf8"))?.[1] ?? 0,
    );
  } catch {
    return 0; // The first run.
  }
}

/** The sources and their licences, which must accompany every copy. */
function noticeOf(lists, count) {
  const parts = lists.map(({ name }) => {
    const home = join(directory, "node_modules", name);
    const { version, license } = JSON.parse(readFileSync(join(home, "package.json"), "utf8"));
    if (!PERMITTED.has(license)) throw new Error(`${name} has the licence ${license}`);
    const file = readdirSync(home).find((entry) => /^licen[sc]e(?:\.\w+)?$/i.test(entry));
    if (file === undefined) throw new Error(`${name} has no text of its licence`);
    const text = license === "MIT" ? readFileSync(join(home, file), "utf8").trim() : null;
    const quoted = text === null ? "" : `\n\n${text.replace(/^/gm, "> ").replace(/ +$/gm, "")}`;
    return `## ${name} ${version}, ${license}${quoted}`;
  });
  const day = new Date().toISOString().slice(0, 10);
  return `# Disposable domains\n\n${count} domains, merged on ${day} from the newest versions of these npm packages by \`scripts/disposable-domains.mjs\`.\n\n${parts.join("\n\n")}\n`;
}
