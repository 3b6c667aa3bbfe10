// Reads the options of the packages' public functions from the sources.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { Node, Project, ts } from "ts-morph";

const root = fileURLToPath(new URL("..", import.meta.url));

/**
 * An option.
 * @typedef {object} Option
 * @property {string} name
 * @property {string} type As declared, with names of unions of literals replaced by the literals.
 * @property {boolean} isRequired
 * @property {boolean} takesUndefined Whether its type names `undefined`, for `exactOptionalPropertyTypes`.
 * @property {string[]} unless Options that it replaces: required if they are absent.
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

/** The table of rules that declares the options of an interface: `extends Options<typeof TABLE>`. */
function tableOf(declaration) {
  if (!Node.isInterfaceDeclaration(declaration)) return undefined;
  const [base] = declaration
    .getExtends()
    .filter((each) => /^(?:\w+\.)?Options<typeof \w+>$/.test(each.getText()));
  const query = base?.getTypeArguments()[0];
  return query === undefined ? undefined : variableOf(query.getExprName());
}

/** The constant that a name means. */
function variableOf(name) {
  const symbol = name.getSymbol();
  return (symbol?.getAliasedSymbol() ?? symbol)?.getDeclarations().find(Node.isVariableDeclaration);
}

/** The tables of rules that a table includes. */
function spreadsOf(table) {
  const value = table.getInitializer();
  if (!Node.isObjectLiteralExpression(value)) return [];
  return value
    .getProperties()
    .filter(Node.isSpreadAssignment)
    .flatMap((spread) =>
      Node.isIdentifier(spread.getExpression()) ? (variableOf(spread.getExpression()) ?? []) : [],
    );
}

/** The interface whose options a table declares. */
function interfaceOf(table) {
  return table
    ?.getSourceFile()
    .getInterfaces()
    .find((each) => tableOf(each) === table);
}

function isOurs(declaration) {
  return relative(root, declaration.getSourceFile().getFilePath()).startsWith("packages/");
}

function isOptions(declaration, isNested) {
  if (Node.isTypeAliasDeclaration(declaration)) return /\w(?:Options|Config)$/.test(declaration.getName());
  if (!Node.isInterfaceDeclaration(declaration)) return false;
  return /(?:Options|Config)$/.test(declaration.getName()) || (isNested && hasOnlyValues(declaration));
}

/** @param {import("ts-morph").InterfaceDeclaration} declaration */
function hasOnlyValues(declaration) {
  if (tableOf(declaration) !== undefined) return true;
  const members = declaration.getMembers();
  return members.length > 0 && members.every((member) => Node.isPropertySignature(member) && isValue(member));
}

/** @param {import("ts-morph").PropertySignature} member */
function isValue(member) {
  return member.getType().getCallSignatures().length === 0 && !/\b[A-Z]\w*Store\b/.test(member.getText());
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
  // Each member of a union is one alternative.
  const shapes = (type.isUnion() ? type.getUnionTypes() : [type]).map(membersOf);
  const theirs = new Set(inherited.flatMap((base) => [...membersOf(base.type).values()]));
  for (const [option, member] of new Map(shapes.flatMap((shape) => [...shape]))) {
    if (theirs.has(member)) continue;
    const others = shapes.filter((shape) => !shape.has(option));
    const found = optionOf(member);
    found.unless = found.isRequired ? others.flatMap((shape) => onlyIn(shape, shapes)) : [];
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
  const inOrder = own.every(Node.isPropertyAssignment)
    ? own.sort((a, b) => a.getStart() - b.getStart())
    : own;
  return new Map(inOrder.map((member) => [member.getName(), member]));
}

/** Names that are required in this shape and impossible in others. */
function onlyIn(shape, shapes) {
  return [...shape]
    .filter(([name, member]) => isRequired(member) && !shapes.every((each) => each.has(name)))
    .map(([name]) => name);
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
    unless: [],
    preset: preset === undefined ? null : plain(ts.getTextOfJSDocComment(preset.comment) ?? ""),
    text: textOf(member),
    parts: [],
    home: home?.getName() ?? null,
  };
}

/** The rule that a name means, or the rule itself. */
function meaningOf(rule) {
  if (Node.isConditionalExpression(rule)) return meaningOf(rule.getWhenTrue());
  const name = Node.isPropertyAccessExpression(rule) ? rule.getNameNode() : rule;
  if (!Node.isIdentifier(name)) return rule;
  const symbol = name.getSymbol();
  const [declaration] = (symbol?.getAliasedSymbol() ?? symbol)?.getDeclarations() ?? [];
  const value = declaration?.getInitializer?.();
  return value === undefined ? rule : meaningOf(value);
}

/** Rules whose type stands beside their name. */
const TYPED = new Set(["any", "value", "fn", "shape"]);

/** `T` of a constant that is declared as `Rule<T>`. */
function declaredType(given) {
  const name = Node.isPropertyAccessExpression(given) ? given.getNameNode() : given;
  const variable = Node.isIdentifier(name) ? variableOf(name) : undefined;
  return variable?.getTypeNode()?.getTypeArguments()[0];
}

/** The type of the values that a rule accepts, as a declaration would name it. */
function ruleType(given) {
  const rule = meaningOf(given);
  // A declared type says more than the rule.
  const declared = declaredType(given);
  if (declared !== undefined) return typeText(declared);
  const name = rule.getExpression().getText().split(".").at(-1);
  const [first, second, third] = rule.getArguments();
  const [typed] = TYPED.has(name) ? rule.getTypeArguments() : [];
  if (typed !== undefined) return typeText(typed);
  if (name === "secret") return "string | Uint8Array | readonly (string | Uint8Array)[]";
  const isListed = name === "oneOf" && rule.getArguments().every(Node.isStringLiteral);
  if (isListed)
    return rule
      .getArguments()
      .map((each) => each.getText())
      .join(" | ");
  if (name === "required" || name === "refined") return ruleType(first);
  if (name === "preset") return ruleType(second);
  if (name === "orFalse") return `${ruleType(first)} | false`;
  if (name === "orNull") return `${ruleType(first)} | null`;
  if (name === "named") return `Readonly<Record<string, ${ruleType(first)}>>`;
  if (name === "nested") return tableText(first);
  if (name === "either") return `${ruleType(third)} | ${tableText(second)}`;
  return oneLine(rule.getType().getAliasTypeArguments()[0].getText(rule));
}

/** The name of the options that a table declares; without one, the options. */
function tableText(table) {
  const named = Node.isIdentifier(table) ? interfaceOf(variableOf(table)) : undefined;
  if (named !== undefined) return named.getName();
  const object = Node.isIdentifier(table) ? variableOf(table).getInitializer() : table;
  const members = object
    .getProperties()
    .map((each) => `${each.getName()}: ${ruleType(each.getInitializer())}`);
  return `{ ${members.join("; ")} }`;
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

/** As declared, except that names of short types are replaced by their definition. */
function typeText(node) {
  let text = node.getText();
  for (const reference of [node, ...node.getDescendants()].filter(Node.isTypeReference)) {
    const symbol = reference.getTypeName().getSymbol();
    const declarations = (symbol?.getAliasedSymbol() ?? symbol)?.getDeclarations() ?? [];
    const alias = declarations.find(Node.isTypeAliasDeclaration);
    const meaning = alias !== undefined && isOurs(alias) ? alias.getTypeNode() : undefined;
    if (isShort(meaning)) text = text.replace(reference.getText(), oneLine(meaning.getText()));
  }
  const shown = oneLine(text).replace(/^\| | \| undefined$/g, "");
  // A function in a union with undefined stands in parentheses.
  return /^\(\(.*\) => [^()]*\)$/.test(shown) ? shown.slice(1, -1) : shown;
}

/** Whether a type is a choice of values that needs no explanation. */
function isShort(node) {
  if (!Node.isUnionTypeNode(node) || node.getText().length > 80) return false;
  return node
    .getDescendants()
    .every(
      (each) => !Node.isTypeLiteral(each) && (!Node.isTypeReference(each) || each.getText() === "Uint8Array"),
    );
}

/** The JSDoc text before its tags. */
function textOf(declaration) {
  return plain(
    docsOf(declaration)
      .map(({ comment }) => ts.getTextOfJSDocComment(comment) ?? "")
      .join(" "),
  );
}

function docsOf(declaration) {
  return ts.getJSDocCommentsAndTags(declaration.compilerNode).filter(ts.isJSDoc);
}

/** @param {string} text */
function plain(text) {
  return oneLine(
    text.replace(/\{@link\s+([^}|\s]+)\s*(?:\|\s*([^}]*))?\}/g, (_, name, said) => said ?? `\`${name}\``),
  );
}

function oneLine(text) {
  return text.replace(/\s+/g, " ").trim();
}

function firstSentence(text) {
  return /^.*?[.:](?= |$)/.exec(text)?.[0].replace(/:$/, ".") ?? text;
}
