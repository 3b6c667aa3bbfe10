// Reads the options of the packages' public functions from the sources.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Node, Project, ts } from "ts-morph";
import {
  docsOf,
  firstSentence,
  interfaceOf,
  isOptions,
  isOurs,
  meaningOf,
  oneLine,
  plain,
  root,
  ruleType,
  spreadsOf,
  TYPED,
  tableOf,
  textOf,
  typeText,
  variableOf,
} from "./read-rules.mjs";

/**
 * An option.
 * @typedef {object} Option
 * @property {string} name
 * @property {string} type As declared, with names of unions of literals replaced by the literals.
 * @property {boolean} isRequired
 * @property {boolean} takesUndefined Whether its type names `undefined`, for `exactOptionalPropertyTypes`.
 * @property {string | null} preset From `@default`.
 * @property {string} text From its JSDoc.
 * @property {string[]} parts Names of interfaces in its type that are options themselves.
 * @property {string | null} home Name of the interface that declares it.
 */

/**
 * An interface of options.
 * @typedef {object} OptionSet
 * @property {string} name
 * @property {string} text From its JSDoc.
 * @property {Option[]} options
 * @property {string[]} faults Gaps in the JSDoc and in the types of the options.
 */

/**
 * A function that takes options.
 * @typedef {object} Factory
 * @property {string} name
 * @property {string} from Specifier to import it from.
 * @property {string} signature
 * @property {string} text First sentence of its JSDoc.
 * @property {string[]} sets Names of the interfaces that it accepts; empty without options.
 */

/**
 * All exports that are called with options, in the order of packages, entries and exports.
 * @returns {{ factories: Factory[], sets: Map<string, OptionSet> }}
 */
export function readOptions() {
  const project = new Project({
    skipAddingFilesFromTsConfig: true,
    compilerOptions: {
      target: ts.ScriptTarget.ES2022,
      module: ts.ModuleKind.NodeNext,
      moduleResolution: ts.ModuleResolutionKind.NodeNext,
      allowImportingTsExtensions: true,
      noEmit: true,
      strict: true,
      types: [],
    },
    resolutionHost: () => ({
      resolveModuleNames: (names, importer) => names.map((name) => ownModule(name, importer)),
    }),
  });
  /** @type {Factory[]} */
  const factories = [];
  /** @type {Map<string, OptionSet>} */
  const sets = new Map();
  // The first entry that exports a function counts: a package's root precedes its other entries.
  const known = new Set();
  project.addSourceFilesAtPaths(entryFiles().map(({ file }) => file));
  for (const { from, file } of entryFiles()) {
    const entry = project.getSourceFileOrThrow(file);
    const exported = [...entry.getExportedDeclarations()].flatMap(([name, declarations]) =>
      declarations
        .filter(Node.isFunctionDeclaration)
        // Not the implementation behind overloads.
        .filter((each) => each.isOverload() || each.getOverloads().length === 0)
        .map((declaration) => ({ name, declaration })),
    );
    for (const { name, declaration } of exported) {
      if (known.has(declaration)) continue;
      known.add(declaration);
      const found = declaration.getParameters().flatMap((parameter) => optionSets(parameter.getType()));
      for (const each of found) addSet(sets, each);
      if (found.length === 0 && !/^(?:create|open|express$)/.test(name)) continue;
      factories.push({
        name,
        from,
        signature: signatureOf(name, declaration),
        text: firstSentence(textOf(declaration)),
        sets: found.map((each) => each.name),
      });
    }
  }
  return { factories, sets };
}

/** Reads sources, so that no build is needed. Dependencies declare no options of ours and are not read. */
function ownModule(name, importer) {
  const file = name.startsWith(".")
    ? join(dirname(importer), name)
    : entryFiles().find(({ from }) => from === name)?.file;
  return file === undefined ? undefined : { resolvedFileName: file };
}

/** The public entries of the packages, except that of the suites. */
function entryFiles() {
  const packages = join(root, "packages");
  return readdirSync(packages)
    .sort()
    .filter((name) => name !== "testing" && existsSync(join(packages, name, "package.json")))
    .flatMap((name) => {
      const { name: packageName, exports } = JSON.parse(
        readFileSync(join(packages, name, "package.json"), "utf8"),
      );
      return Object.entries(exports ?? {}).flatMap(([path, target]) => {
        const built = typeof target === "object" ? target.default : undefined;
        if (built === undefined) return [];
        const file = join(packages, name, built.replace("./dist/", "src/").replace(/\.js$/, ".ts"));
        return existsSync(file)
          ? [{ from: path === "." ? packageName : packageName + path.slice(1), file }]
          : [];
      });
    });
}

/** @param {import("ts-morph").FunctionDeclaration} declaration */
function signatureOf(name, declaration) {
  const parameters = declaration.getParameters().map((parameter) => {
    const isPattern = Node.isObjectBindingPattern(parameter.getNameNode());
    return (isPattern ? "options" : parameter.getName()) + (parameter.isOptional() ? "?" : "");
  });
  return `${name}(${parameters.join(", ")})`;
}

/**
 * A type of options, as declared.
 * @typedef {object} Declared
 * @property {string} name
 * @property {import("ts-morph").Type} type
 * @property {import("ts-morph").JSDocableNode} declaration
 * @property {Declared[]} inherited Options that it extends.
 */

/**
 * The option types within a type: types named as options, and within options, types with values only.
 * @param {import("ts-morph").Type} type
 * @returns {Declared[]}
 */
function optionSets(type, isNested = false) {
  const symbol = type.getAliasSymbol() ?? type.getSymbol();
  const declaration = symbol?.getDeclarations().find((each) => isOurs(each) && isOptions(each, isNested));
  if (declaration !== undefined) {
    // Options that several functions inherit are a set of their own.
    const bases = Node.isInterfaceDeclaration(declaration) ? basesOf(declaration) : [];
    const inherited = bases.flatMap((base) => optionSets(base));
    return [{ name: symbol.getName(), type, declaration, inherited }, ...inherited];
  }
  if (type.isUnion()) return type.getUnionTypes().flatMap((each) => optionSets(each, isNested));
  const element = type.getArrayElementType() ?? (isNested ? type.getStringIndexType() : undefined);
  return element === undefined ? [] : optionSets(element, isNested);
}

/** The types that an interface extends, or whose rules its table of rules includes. */
function basesOf(declaration) {
  const table = tableOf(declaration);
  if (table === undefined) return declaration.getBaseTypes();
  return spreadsOf(table).flatMap((spread) => interfaceOf(spread)?.getType() ?? []);
}

/**
 * Adds the declared type, and the types of its options.
 * @param {Map<string, OptionSet>} sets
 * @param {Declared} declared
 */
function addSet(sets, { name, type, declaration, inherited }) {
  if (sets.has(name)) return;
  /** @type {OptionSet} */
  const set = { name, text: textOf(declaration), options: [], faults: [] };
  sets.set(name, set);
  const theirs = new Set(inherited.flatMap((base) => [...membersOf(base.type).values()]));
  for (const [option, member] of membersOf(type)) {
    if (theirs.has(member)) continue;
    const found = optionOf(member);
    const nested = Node.isPropertyAssignment(member)
      ? partsOf(member.getInitializer())
      : optionSets(member.getType().getNonNullableType(), true);
    found.parts = [...new Set(nested.map((each) => each.name))];
    set.options.push(found);
    if (found.text === "") set.faults.push(`${name}.${option} has no description`);
    if (!found.isRequired && found.preset === null) set.faults.push(`${name}.${option} has no @default`);
    if (!found.isRequired && !found.takesUndefined)
      set.faults.push(`${name}.${option} does not accept undefined`);
    for (const each of nested) addSet(sets, each);
  }
}

/** @param {import("ts-morph").Type} type */
function membersOf(type) {
  const members = type.getProperties().map((property) => {
    const declarations = property.getDeclarations();
    return declarations.find((each) => docsOf(each).length > 0) ?? declarations[0];
  });
  const own = members.filter(
    (member) =>
      Node.isPropertySignature(member) || Node.isMethodSignature(member) || Node.isPropertyAssignment(member),
  );
  // A type whose options are declared by rules lists them in no order.
  if (own.every(Node.isPropertyAssignment)) own.sort((a, b) => a.getStart() - b.getStart());
  return new Map(own.map((member) => [member.getName(), member]));
}

function isRequired(member) {
  if (Node.isPropertyAssignment(member))
    return /^(?:rules\.)?required\(/.test(meaningOf(member.getInitializer()).getText());
  return !member.hasQuestionToken();
}

/** @returns {Option} */
function optionOf(member) {
  const isRule = Node.isPropertyAssignment(member);
  const preset = docsOf(member)
    .flatMap(({ tags = [] }) => [...tags])
    .find((tag) => tag.tagName.text === "default");
  const type = isRule
    ? ruleType(member.getInitializer())
    : Node.isMethodSignature(member)
      ? methodType(member)
      : typeText(member.getTypeNode());
  const home = isRule
    ? interfaceOf(member.getFirstAncestorByKind(ts.SyntaxKind.VariableDeclaration))
    : member.getParentIfKind(ts.SyntaxKind.InterfaceDeclaration);
  return {
    name: member.getName(),
    type,
    isRequired: isRequired(member),
    takesUndefined:
      isRule ||
      (Node.isPropertySignature(member) && /\bundefined$/.test(member.getTypeNode()?.getText() ?? "")),
    preset: preset === undefined ? null : plain(ts.getTextOfJSDocComment(preset.comment) ?? ""),
    text: textOf(member),
    parts: [],
    home: home?.getName() ?? null,
  };
}

/** The options within a rule. */
function partsOf(given) {
  const rule = meaningOf(given);
  const isTyped = TYPED.has(rule.getExpression().getText().split(".").at(-1));
  const types = (isTyped ? rule.getTypeArguments() : []).flatMap((each) =>
    optionSets(each.getType().getNonNullableType(), true),
  );
  const tables = rule
    .getArguments()
    .filter(
      (each) =>
        Node.isIdentifier(each) || Node.isCallExpression(each) || Node.isPropertyAccessExpression(each),
    )
    .flatMap((each) => {
      const table = Node.isIdentifier(each) ? interfaceOf(variableOf(each)) : undefined;
      if (table !== undefined) return optionSets(table.getType(), true);
      const value = meaningOf(each);
      return Node.isCallExpression(value) && /^(?:rules|shapes)?\.?\w+$/.test(value.getExpression().getText())
        ? partsOf(value)
        : [];
    });
  return [...types, ...tables];
}

function methodType(member) {
  const parameters = member.getParameters().map((parameter) => parameter.getText());
  return oneLine(`(${parameters.join(", ")}) => ${member.getReturnTypeNodeOrThrow().getText()}`);
}
