import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

/** A client's declaration of a value. */
export type Shape =
  | "string"
  | "number"
  | "boolean"
  | { fields: ReadonlyMap<string, Shape> }
  | { entries: Shape };

const require = createRequire(import.meta.url);

/** The declarations of `node-hunterio`, by interface name: the fields that its users read. */
export async function readDeclaredShapes(): Promise<ReadonlyMap<string, Shape>> {
  const directory = dirname(require.resolve("node-hunterio"));
  const source = await readFile(join(directory, "Hunterio.d.ts"), "utf8");
  const shapes = new Map<string, Shape>();
  const lines = source.split("\n").map((line) => line.trim());
  // An interface may refer to one declared below it.
  for (let pass = 0; pass < 3; pass++) {
    for (const [at, line] of lines.entries()) {
      const name = /^export interface (\w+) \{$/.exec(line)?.[1];
      if (name !== undefined) shapes.set(name, readFields(lines, at + 1, shapes).shape);
    }
  }
  return shapes;
}

function readFields(
  lines: readonly string[],
  begin: number,
  shapes: ReadonlyMap<string, Shape>,
): { shape: Shape; end: number } {
  const fields = new Map<string, Shape>();
  for (let at = begin; at < lines.length; at++) {
    const line = lines[at] ?? "";
    if (/^\};?$/.test(line)) return { shape: { fields }, end: at };
    const opened = /^(\w+): \{$/.exec(line)?.[1];
    if (opened !== undefined) {
      const nested = readFields(lines, at + 1, shapes);
      fields.set(opened, nested.shape);
      at = nested.end;
      continue;
    }
    const [, name, type, list] = /^(\w+)\??: ([\w' |]+)(\[\])?;$/.exec(line) ?? [];
    assert.ok(name !== undefined && type !== undefined, `cannot read ${line}`);
    const shape = typeOf(type, shapes);
    fields.set(name, list === undefined ? shape : { entries: shape });
  }
  throw new Error("An interface has no end");
}

function typeOf(type: string, shapes: ReadonlyMap<string, Shape>): Shape {
  if (type === "string" || type === "number" || type === "boolean") return type;
  return type.startsWith("'") ? "string" : (shapes.get(type) ?? { fields: new Map() });
}

/**
 * Fails if a value lacks a declared field, or has it with another type. Text may be `null`: the API uses `null` for
 * unknown values, while its clients declare text. Numbers are integers.
 * @returns every field checked, as a path; lists by their first entry.
 */
export function requireShape(value: unknown, shape: Shape, path = ""): string[] {
  if (shape === "number") {
    // Parameters that were not given are null, whatever their declared type.
    const isAbsent = value === null && path.startsWith("meta.params.");
    assert.ok(isAbsent || Number.isSafeInteger(value), `${path} is ${value}`);
  } else if (path === "data.team_id") {
    // The API's documentation and the clients in other languages have an integer here.
    assert.ok(Number.isSafeInteger(value), `${path} is ${value}`);
  } else if (shape === "string")
    assert.ok(value === null || typeof value === "string", `${path} is ${value}`);
  else if (shape === "boolean") assert.equal(typeof value, "boolean", path);
  else if ("entries" in shape) {
    assert.ok(Array.isArray(value) && value.length > 0, `${path} has no entries`);
    return value.flatMap((entry, index) => {
      const paths = requireShape(entry, shape.entries, `${path}[]`);
      return index === 0 ? paths : [];
    });
  } else {
    assert.ok(typeof value === "object" && value !== null, `${path} is ${value}`);
    return [...shape.fields].flatMap(([name, field]) => {
      assert.ok(name in value, `${path}.${name} is missing`);
      return requireShape(Reflect.get(value, name), field, path === "" ? name : `${path}.${name}`);
    });
  }
  return [path];
}
