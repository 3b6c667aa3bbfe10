import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { expect, test } from "vitest";
import { addServerCommands } from "../../packages/server/dist/commands/add-server-commands.js";
import { run } from "../support/programs.ts";
import { type Block, blocksIn, placeOf, ROOT, readPages } from "./pages.ts";

const { scripts } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { scripts: object };
const blocks = blocksIn(await readPages(), "sh");

/** The block without outputs, and with words for what a reader puts in. */
function scriptOf({ code }: Pick<Block, "code">): string {
  const lines = code.split("\n");
  const typed = lines.some((line) => line.startsWith("$ "))
    ? lines.filter((line) => line.startsWith("$ "))
    : lines;
  return typed
    .join("\n")
    .replaceAll(/^\$ /gm, "")
    .replaceAll(/<[a-zA-Z ]+>|…/g, "word");
}

/** The words of each command that begins with `name`. */
function commandsOf(block: Pick<Block, "code">, name: RegExp): string[][] {
  const script = scriptOf(block).replaceAll("\\\n", " ").replaceAll(/ #.*$/gm, "");
  const parts = script.replaceAll(/'[^']*'|"[^"]*"/g, "word").split(/[\n|;&()]+/);
  return parts.flatMap((part) => {
    const [, rest] = part.split(name);
    return rest === undefined ? [] : [rest.trim().split(/\s+/)];
  });
}

type Program = Parameters<typeof addServerCommands>[0];
const requireOfServer = createRequire(join(ROOT, "packages/server/package.json"));
const { Command } = requireOfServer("commander") as { Command: new (name: string) => Program };
const outrigger = new Command("outrigger");
addServerCommands(outrigger);

/** Why `outrigger` does not take these words, each reason a line. */
function faultsOf(words: readonly string[]): string[] {
  let command = outrigger;
  const path = ["outrigger"];
  for (const word of words) {
    if (command.commands.length === 0) break;
    path.push(word);
    const next = command.commands.find((each) => each.name() === word);
    if (next === undefined) return [`there is no ${path.join(" ")}`];
    command = next;
  }
  const options = command.options.map(({ long }) => long);
  return words
    .filter((word) => /^--\w/.test(word) && !options.includes(word))
    .map((word) => `${path.join(" ")} has no ${word}`);
}

test("the shell reads the commands of every block", async () => {
  for (const block of blocks) {
    const { stderr } = await run("/bin/bash", ["-n"], { input: scriptOf(block) });
    expect(stderr, placeOf(block)).toBe("");
  }
});

test("outrigger has every command and option that the guides type", () => {
  const typed = blocks.flatMap((block) =>
    commandsOf(block, /\boutrigger (?=[a-z]+\b)/).map((words) => ({ place: placeOf(block), words })),
  );
  const faults = typed.flatMap(({ place, words }) => faultsOf(words).map((fault) => `${place}: ${fault}`));
  expect(faults).toEqual([]);
  expect(typed.length).toBeGreaterThan(25);
});

test("a command or option that outrigger does not have is a fault", () => {
  expect(faultsOf(["images", "rm", "--yess"])).toEqual(["outrigger images rm has no --yess"]);
  expect(faultsOf(["image", "rm"])).toEqual(["there is no outrigger image"]);
});

test("package.json has every script, and the workspace every package, that the guides name", () => {
  const faults: string[] = [];
  for (const block of blocks) {
    for (const [command = "", ...words] of commandsOf(block, /\bnpm (?=[a-z]+\b)/)) {
      const script = command === "run" ? (words[0] ?? "") : command;
      if (command !== "install" && !(script in scripts))
        faults.push(`${placeOf(block)}: no script ${script}`);
      if (command !== "install") continue;
      for (const name of words.filter((word) => !word.startsWith("-")))
        if (!existsSync(join(ROOT, "node_modules", name)))
          faults.push(`${placeOf(block)}: no package ${name}`);
    }
  }
  expect(faults).toEqual([]);
});

test("the recipe for the log of a repository keeps the people of the domain in any case, and no noreply address", async () => {
  const block = blocks.find(({ code }) => code.startsWith("git log"));
  const filter = block?.code.split("\n").find((line) => line.includes("awk")) ?? "";
  const input = [
    "Ada Lovelace\tAda.Lovelace@Example.COM",
    "Noreply Anderson\tnoreplya@example.com",
    "Bot\tnoreply@example.com",
    "Bot\tNo-Reply@example.com",
    "Eve\teve@other.example",
    "Eve\teve@subexample.com",
  ];
  const { stdout } = await run("sh", ["-c", filter.replace(/\|$/, "")], { input: `${input.join("\n")}\n` });
  expect(stdout.toString().trimEnd().split("\n")).toEqual(["name\temail", ...input.slice(0, 2)]);
});
