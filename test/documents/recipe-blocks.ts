import * as core from "@outrigger/core";
import * as stores from "@outrigger/core/stores";
import * as imaging from "@outrigger/imaging";
import * as verifier from "@outrigger/verifier";
import express from "express";
import * as standardwebhooks from "standardwebhooks";
import { blocksIn, placeOf, readPage } from "./pages.ts";
import { runBlock } from "./run-block.ts";

const MODULES: Record<string, unknown> = {
  "@outrigger/core": core,
  "@outrigger/core/stores": stores,
  "@outrigger/imaging": imaging,
  "@outrigger/verifier": verifier,
  express,
  standardwebhooks,
};
for (const name of ["child_process", "crypto", "events", "net", "stream/consumers", "stream/promises"])
  MODULES[`node:${name}`] = process.getBuiltinModule(`node:${name}`);

export const recipes = await readPage("docs/recipes.md");

/** Places of the blocks that {@link codeOf} returned. */
export const used = new Set<string>();

/** The only block of a section that contains a text. */
export function codeOf(heading: string, text = "", page = recipes): string {
  const sections = page.text.split(/^(?=#{2,4} )/m);
  let line = 1;
  for (const section of sections) {
    const end = line + section.split("\n").length - 1;
    if (section.replace(/^#+ /, "").startsWith(`${heading}\n`)) {
      const found = blocksIn([page], "js").filter((block) => block.line >= line && block.line < end);
      const [block, ...others] = found.filter(({ code }) => code.includes(text));
      if (block === undefined || others.length > 0)
        throw new Error(`${heading}: ${others.length} other blocks`);
      used.add(placeOf(block));
      return block.code;
    }
    line = end;
  }
  throw new Error(`There is no section ${heading}`);
}

/** Runs a block. @returns the value of `result` */
export const run = (code: string, given: Record<string, unknown> = {}, result?: string) =>
  runBlock(code, { modules: MODULES, ...given }, result);
