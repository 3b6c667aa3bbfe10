// Reads declarations of options: their tables of rules, the types of the values that a rule accepts, and their comments.
import { relative } from "node:path";
import { fileURLToPath } from "node:url";
import { Node, ts } from "ts-morph";

export const root = fileURLToPath(new URL("..", import.meta.url));

/** The table of rules that declares the options of an interface: `extends Options<typeof TABLE>`. */
export function tableOf(declaration) {
  if (!Node.isInterfaceDeclaration(declaration)) return undefined;
  const [base] = declaration
    .getExtends()
    .filter((each) => /^(?:\w+\.)?Options<typeof \w+>$/.test(each.getText()));
  const query = base?.getTypeArguments()[0];
  return query === undefined ? undefined : variableOf(query.getExprName());
}

/** The constant that a name means. */
export function variableOf(name) {
  const symbol = name.getSymbol();
  return (symbol?.getAliasedSymbol() ?? symbol)?.getDeclarations().find(Node.isVariableDeclaration);
}

/** The tables of rules that a table includes. */
export function spreadsOf(table) {
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
export function interfaceOf(table) {
  return table
    ?.getSourceFile()
    .getInterfaces()
    .find((each) => tableOf(each) === table);
}

/** The rule that a name means, or the rule itself. */
export function meaningOf(rule) {
  if (Node.isConditionalExpression(rule)) return meaningOf(rule.getWhenTrue());
  const name = Node.isPropertyAccessExpression(rule) ? rule.getNameNode() : rule;
  if (!Node.isIdentifier(name)) return rule;
  const symbol = name.getSymbol();
  const [declaration] = (symbol?.getAliasedSymbol() ?? symbol)?.getDeclarations() ?? [];
  const value = declaration?.getInitializer?.();
  return value === undefined ? rule : meaningOf(value);
}

/** Rules whose type stands beside their name. */
export const TYPED = new Set(["any", "value", "fn", "shape"]);

/** `T` of a constant that is declared as `Rule<T>`. */
function declaredType(given) {
  const name = Node.isPropertyAccessExpression(given) ? given.getNameNode() : given;
  const variable = Node.isIdentifier(name) ? variableOf(name) : undefined;
  return variable?.getTypeNode()?.getTypeArguments()[0];
}

/** The type of the values that a rule accepts, as a declaration would name it. */
export function ruleType(given) {
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
  if (name === "orAny") return `${ruleType(first)} | "any"`;
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

/** As declared, except that names of short types are replaced by their definition. */
export function typeText(node) {
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

export function isOurs(declaration) {
  return relative(root, declaration.getSourceFile().getFilePath()).startsWith("packages/");
}

export function oneLine(text) {
  return text.replace(/\s+/g, " ").trim();
}

export function isOptions(declaration, isNested) {
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

/** The JSDoc text before its tags. */
export function textOf(declaration) {
  return plain(
    docsOf(declaration)
      .map(({ comment }) => ts.getTextOfJSDocComment(comment) ?? "")
      .join(" "),
  );
}

export function docsOf(declaration) {
  return ts.getJSDocCommentsAndTags(declaration.compilerNode).filter(ts.isJSDoc);
}

/** @param {string} text */
export function plain(text) {
  return oneLine(
    text.replace(/\{@link\s+([^}|\s]+)\s*(?:\|\s*([^}]*))?\}/g, (_, name, said) => said ?? `\`${name}\``),
  );
}

export function firstSentence(text) {
  return /^.*?[.:](?= |$)/.exec(text)?.[0].replace(/:$/, ".") ?? text;
}
