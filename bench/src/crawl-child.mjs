// Indexes a site on this machine, and prints the peak of the process's memory after each of some numbers of pages. Arguments:
// the port of the site, its domain, the file of a database, then the numbers, smallest first.
import { openDatabase } from "@outrigger/sql";
import { createPageIndex } from "../../packages/page-index/dist/index.js";

const [port, domain = "", file, ...numbers] = process.argv.slice(2);
const marks = numbers.map(Number);
const database = openDatabase({ url: `file:${file}` });
const pages = createPageIndex(database, {
  contact: "https://robot.example/",
  secret: "s".repeat(32),
  internalHosts: [`${domain}:${port}`],
  perHostMs: 0,
  maxPages: 100_000,
});
const last = new AbortController();
try {
  const [account] = await pages.index([domain], {
    signal: last.signal,
    onProgress({ read }) {
      if (read < (marks[0] ?? Number.POSITIVE_INFINITY)) return;
      marks.shift();
      console.log(process.resourceUsage().maxRSS * 1024);
      if (marks.length === 0) last.abort();
    },
  });
  if (marks.length > 0) throw new Error(`Pages are missing: ${JSON.stringify(account)}`);
} catch (error) {
  if (marks.length > 0) throw error;
}
await database.close();
