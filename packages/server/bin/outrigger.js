#!/usr/bin/env node
import { tooManyOpenFiles } from "../dist/cli/open-files.js";

try {
  const { main } = await import("../dist/main.js");
  await main(process.argv);
} catch (error) {
  // The program itself is some hundred files, many of which are read at once.
  const said = tooManyOpenFiles(error);
  if (said === null) throw error;
  process.stderr.write(`outrigger: ${said}\n`);
  process.exitCode = 1;
}
