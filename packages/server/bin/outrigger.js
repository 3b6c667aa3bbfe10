#!/usr/bin/env node
import { tooManyOpenFiles } from "../dist/cli/open-files.js";

try {
  const { main } = await import("../dist/main.js");
  await main(process.argv);
} catch (error) {
  // The program loads hundreds of files, many of them at the same time.
  const said = tooManyOpenFiles(error);
  if (said === null) throw error;
  process.stderr.write(`outrigger: ${said}\n`);
  process.exitCode = 1;
}
