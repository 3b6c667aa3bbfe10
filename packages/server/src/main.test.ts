import { Command } from "commander";
import { expect, it, vi } from "vitest";
import { addServerCommands } from "./commands/add-server-commands.ts";
import { usageText } from "./main.ts";

/** Every command with its commands. */
function all(command: Command): Command[] {
  return [command, ...command.commands.flatMap(all)];
}

it.each([60, 80, 200])("the help of every command fits %i columns and breaks no word", (width) => {
  let shown = "";
  const program = new Command("outrigger").configureOutput({
    getOutHelpWidth: () => width,
    writeOut: (text) => {
      shown += text;
    },
  });
  addServerCommands(program);
  const commands = all(program);
  expect(commands.length).toBeGreaterThan(25);
  for (const command of commands) {
    shown = "";
    command.outputHelp();
    const [help = "", examples = ""] = shown.split("\nExamples:\n");
    const long = help.split("\n").filter((line) => line.length > width && /^\S|^ {10}.* \S/.test(line));
    expect(long, command.name()).toEqual([]);
    const [lines = ""] = examples.split("\n\n");
    expect(
      lines.split("\n").filter((line) => line.length > 80),
      command.name(),
    ).toEqual([]);
    const words = (text: string) => text.split(/\s+/).join(" ");
    if (command.commands.length === 0) expect(words(help)).toContain(words(command.description()));
  }
});

it("options of npm start without -- are explained, and a surplus argument elsewhere is not", () => {
  const said = "error: too many arguments for 'serve'. Expected 0 arguments but got 1.\n";
  vi.stubEnv("npm_lifecycle_event", "start");
  expect(usageText(said)).toBe(
    "outrigger: npm keeps the options for itself. Type -- before them: npm start -- --port 8080\n",
  );
  vi.stubEnv("npm_lifecycle_event", undefined);
  expect(usageText(said)).toContain("too many arguments");
  vi.unstubAllEnvs();
});

it.each([
  [
    "error: option '--delete-after <date>' argument '400' is invalid. It must be a date.\n",
    "outrigger: --delete-after 400: must be a date.\n",
  ],
  ["error: unknown option '--prot'\n", "outrigger: unknown option '--prot'\n"],
  [
    "error: command-argument value 'a\u001b' is invalid for argument 'account'. It must be short.\n",
    "outrigger: a\\u001b: must be short.\n",
  ],
])("a message of the option parser gets the prefix and names the option as typed: %j", (text, shown) => {
  expect(usageText(text)).toBe(shown);
});
