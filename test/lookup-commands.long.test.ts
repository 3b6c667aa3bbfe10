import { stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createLookupPlace, HEADER, PEOPLE } from "../packages/server/test/lookup-place.ts";
import { outrigger } from "../packages/server/test/outrigger-process.ts";

describe("outrigger contacts import", () => {
  it("contacts import prints every bad line, and --on-bad-line fail ends it", async () => {
    const place = await createLookupPlace();
    const bad = Array.from({ length: 30 }, () => "no-address,A,B,,,");
    await writeFile(join(place.cwd, "bad.csv"), [HEADER, ...bad, ...PEOPLE].join("\n"));
    const skipped = await place.run("contacts", "import", "bad.csv");
    expect(skipped.code).toBe(0);
    expect(skipped.stdout).toMatch(/^34 lines: 4 addresses added, .* 30 bad lines/);
    const database = `outrigger: lookup database file:${join(place.cwd, "data", "lookup.db")}`;
    expect(skipped.stderr.trimEnd().split("\n")).toEqual([
      `${database} (new)`,
      ...bad.map((_, index) => `outrigger: line ${index + 2}: it has no email address`),
    ]);
    const failed = await place.run("contacts", "import", "bad.csv", "--on-bad-line", "fail");
    expect(failed).toMatchObject({ code: 1, stdout: "" });
    expect(failed.stderr).toContain("bad.csv: Line 2 cannot be imported: address");
  });

  it("contacts import of a file without a good line exits with 1 and names --map", async () => {
    const place = await createLookupPlace();
    await writeFile(join(place.cwd, "none.csv"), "First Name,Email,Kontakt\nAnn,none,ann@a.example\n");
    const none = await place.run("contacts", "import", "none.csv", "--json");
    expect([none.code, JSON.parse(none.stdout)]).toEqual([1, expect.objectContaining({ lines: 1, bad: 1 })]);
    expect(none.stderr).toContain("none.csv: No line could be imported");
    expect(none.stderr).toContain("--map address=<column>");
    const mapped = await place.run("contacts", "import", "none.csv", "--map", "address=Kontakt");
    expect([mapped.code, mapped.stdout]).toEqual([0, expect.stringContaining("1 addresses added")]);
    await writeFile(join(place.cwd, "other.csv"), "Vorname,Kontakt\nAnn,keine\n");
    const other = await place.run("contacts", "import", "other.csv");
    expect([other.code, other.stderr]).toEqual([1, expect.stringContaining("--map address=<column>")]);
    expect(other.stderr).toContain('Found "Vorname", "Kontakt"');
    await writeFile(join(place.cwd, "empty.csv"), "Email\n");
    const empty = await place.run("contacts", "import", "empty.csv");
    expect([empty.code, empty.stderr]).toEqual([
      0,
      expect.stringMatching(/^outrigger: lookup database .*\n$/),
    ]);
    const vcard = await place.run("contacts", "import", "other.csv", "--format", "vcard");
    expect([vcard.code, vcard.stderr]).toEqual([1, expect.stringContaining("--format names another one")]);
  });

  it("contacts import --dry-run prints the field of each column and three contacts, and stores nothing", async () => {
    const place = await createLookupPlace();
    const rows = [
      "Groß;jörg@bau.example;Chef;x",
      ..."abcd".split("").map((name) => `${name};${name}@bau.example;;`),
    ];
    const text = ["sep=;", "Name;E-Mail;Funktion;Notiz", ...rows, "ohne;;;"].join("\r\n");
    await writeFile(join(place.cwd, "leute.txt"), Buffer.from(text, "latin1"));
    const dryRun = ["contacts", "import", "leute.txt", "--dry-run"];
    const refused = await place.run(...dryRun);
    expect([refused.code, refused.stderr]).toEqual([
      1,
      expect.stringContaining("Name its encoding with --encoding"),
    ]);
    const { code, stdout, stderr } = await place.run(...dryRun, "--encoding", "windows-1252");
    expect(code).toBe(0);
    expect(stderr).toContain('Columns not used: "Notiz"');
    expect(stderr).toContain("line 8: it has no email address");
    const lines = stdout.trimEnd().split("\n");
    expect(lines.slice(0, 4)).toEqual([
      '"Name" → fullName',
      '"E-Mail" → address',
      '"Funktion" → position',
      '"Notiz" → not used',
    ]);
    expect(lines.slice(4, -1).map((line) => JSON.parse(line).address)).toEqual([
      "jörg@bau.example",
      "a@bau.example",
      "b@bau.example",
    ]);
    expect(JSON.parse(lines[4] ?? "")).toMatchObject({ last_name: "Groß", position: "Chef", sources: [] });
    expect(lines.at(-1)).toBe("6 lines: 1 bad lines, 0 values dropped. Nothing was stored.");
    await expect(stat(join(place.cwd, "data"))).rejects.toThrow("ENOENT");
    const json = await place.run(
      "contacts",
      "import",
      "leute.txt",
      "--dry-run",
      "--encoding=windows-1252",
      "--json",
      "--map",
      "position=Notiz",
    );
    expect(JSON.parse(json.stdout)).toMatchObject({ lines: 6, bad: 1, samples: [{ position: "x" }, {}, {}] });
  });

  it("contacts import maps columns by --map and resumes after a signal", async () => {
    const place = await createLookupPlace();
    const rows = Array.from({ length: 60_000 }, (_, index) => `p${index}@d${index % 300}.example,P,Q`);
    await writeFile(join(place.cwd, "many.csv"), ["Adresse,Vorname,Nachname", ...rows].join("\n"));
    const args = [
      "contacts",
      "import",
      "many.csv",
      "--map",
      "address=Adresse,firstName=Vorname,lastName=Nachname",
    ];
    const stopped = outrigger(args, { cwd: place.cwd, env: place.env });
    // The database is there before the first line is.
    await expect
      .poll(
        () =>
          stat(join(place.cwd, "data", "lookup.db-wal")).then(
            ({ size }) => size,
            () => 0,
          ),
        { interval: 5 },
      )
      .toBeGreaterThan(1_000_000);
    stopped.child.kill("SIGINT");
    expect(await stopped.exit).toBe(130);
    expect(stopped.output.stderr).toContain("Import the same file again to resume");
    const { stdout } = await place.run(...args, "--json");
    const { added, unchanged, bad } = JSON.parse(stdout);
    expect([added + unchanged, bad]).toEqual([60_000, 0]);
    expect(unchanged).toBeGreaterThan(0);
  });

  it.each([
    [["export", "people.txt"], "--format: is required for people.txt"],
    [["export", "people.vcf"], "--format: is required for people.vcf"],
    [["import", "people.csv", "--encoding", "klingon"], "must be an encoding"],
    [["import", "people.csv", "--map", "adress=Email"], "--map: must be field=column"],
    [["erase", "no-address"], "no-address: must be an email address or a domain"],
  ])("the command %j exits with 2", async (args, message) => {
    const place = await createLookupPlace();
    const { code, stderr } = await place.run("contacts", ...args);
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
  });

  it.each([
    ["contacts", "export"],
    ["keys", "list"],
    ["keys", "revoke", "acme", "79a034"],
    ["contacts", "erase", "a.example"],
    ["suppress", "ada@a.example"],
    ["suppress", "--remove", "ada@a.example"],
  ])("%s %s creates no database, and names the place where it found none", async (...args) => {
    const place = await createLookupPlace();
    const { code, stderr } = await place.run(...args);
    expect([code, stderr]).toEqual([1, expect.stringContaining("There is no lookup database file:")]);
    expect(stderr).toContain("Set it with --data, OUTRIGGER_DATA, OUTRIGGER_LOOKUP_DATABASE");
    await expect(stat(join(place.cwd, "data"))).rejects.toThrow("ENOENT");
  });

  it("suppress and erase say that they found nothing, and their records do not say erased", async () => {
    const place = await createLookupPlace();
    await place.createKey();
    const suppressed = await place.run("suppress", "ada@a.example");
    expect([suppressed.code, suppressed.stdout]).toEqual([0, "ada@a.example suppressed\n"]);
    expect(suppressed.stderr).toContain('"msg":"no contact data found"');
    const erased = await place.run("contacts", "erase", "bob@a.example");
    expect([erased.code, erased.stderr]).toEqual([1, expect.stringContaining("bob@a.example: unknown")]);
    expect(suppressed.stderr + erased.stderr).not.toContain("data erased");
  });

  it("an import of a missing file names the file", async () => {
    const place = await createLookupPlace();
    expect((await place.run("contacts", "import", "none.csv")).stderr).toContain("none.csv cannot be read");
  });
});
