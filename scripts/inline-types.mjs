// Copies the types of core that the package in the working directory imports into `dist/core-types.d.ts`, with all types that
// they name. Its declarations then import that file: the published package depends on no other.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import { ts } from "ts-morph";

const CORE = /from "(@outrigger\/core(?:\/\w+)?)"/g;
const OUT = join("dist", "core-types.d.ts");
const coreDist = resolve("../core/dist") + sep;

const sources = readdirSync("src", { recursive: true }).filter((file) => /(?<!\.test)\.ts$/.test(file));
const texts = sources.map((file) => readFileSync(join("src", file), "utf8"));
const lists = texts.flatMap((text) => [
  ...text.matchAll(/(?:im|ex)port type \{([^}]*)\} from "@outrigger\/core(?:\/(\w+))?"/g),
]);

const entries = [...new Set(lists.map(([, , entry = "index"]) => `${coreDist}${entry}.d.ts`))];
const program = ts.createProgram(entries, { module: ts.ModuleKind.NodeNext, skipLibCheck: true, types: [] });
const checker = program.getTypeChecker();
/** Text of each declaration, by name. */
const copied = new Map();

for (const [, list, entry = "index"] of lists) {
  const module = checker.getSymbolAtLocation(program.getSourceFile(`${coreDist}${entry}.d.ts`));
  for (const name of list
    .split(",")
    .map((part) => part.trim().split(" as ")[0])
    .filter(Boolean)) {
    const found = checker.getExportsOfModule(module).find((each) => each.name === name);
    if (found === undefined) throw new Error(`core exports no type ${name}`);
    copy(found);
  }
}
writeFileSync(OUT, `${[...copied.values()].map(({ text }) => text).join("\n")}\n`);

for (const file of readdirSync("dist", { recursive: true })) {
  if (!file.endsWith(".d.ts")) continue;
  const path = join("dist", file);
  const text = readFileSync(path, "utf8");
  const own = `./${relative(dirname(path), OUT)
    .replaceAll(sep, "/")
    .replace(/\.d\.ts$/, ".js")}`;
  if (CORE.test(text)) writeFileSync(path, text.replaceAll(CORE, `from "${own}"`));
}

/** Copies a declaration of core and the declarations that it names. */
function copy(found) {
  const symbol = found.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(found) : found;
  const [declaration] = symbol.declarations ?? [];
  if (!declaration?.getSourceFile().fileName.startsWith(coreDist.replaceAll(sep, "/"))) return;
  if (!ts.isSourceFile(statementOf(declaration).parent)) return;
  const before = copied.get(symbol.name);
  if (before?.symbol === symbol) return;
  if (before !== undefined) throw new Error(`core has two types called ${symbol.name}`);
  const text = statementOf(declaration).getFullText().trim();
  copied.set(symbol.name, {
    symbol,
    text: text.includes("export ") ? text : text.replace(/^(?=\w)/m, "export "),
  });
  visit(declaration);
}

function visit(node) {
  if (ts.isIdentifier(node)) {
    const named = checker.getSymbolAtLocation(node);
    if (named !== undefined && !(named.flags & ts.SymbolFlags.TypeParameter)) copy(named);
  }
  ts.forEachChild(node, visit);
}

/** The statement of a declaration: a constant is part of one. */
function statementOf(declaration) {
  return ts.isVariableDeclaration(declaration) ? declaration.parent.parent : declaration;
}
