import { ConfigError } from "../../config/config-error.ts";
import { COMMON_IMPORTS, COMMON_PACKAGES, HOSTS, type Host, type HostName, SERVICE } from "./hosts.ts";
import { type App, lookAtApp, type Manager } from "./look-at-app.ts";

/** The options of `outrigger init` as typed. */
export interface InitFlags {
  host?: HostName;
  json?: boolean;
}

const INSTALL: Readonly<Record<Manager, string>> = {
  npm: "npm install",
  pnpm: "pnpm add",
  yarn: "yarn add",
};
const NEXT_STEP = "npx outrigger doctor http://127.0.0.1:3000/img";

/** `outrigger init`: prints the lines that mount Outrigger in the app of the working directory. Changes nothing. */
export async function init({ host, json = false }: InitFlags): Promise<void> {
  if (host !== undefined && !Object.hasOwn(HOSTS, host)) {
    throw new ConfigError("The command line", [`--host: must be one of ${Object.keys(HOSTS).join(", ")}`]);
  }
  const app = lookAtApp(process.cwd(), host);
  const lines = linesFor(app);
  process.stdout.write(json ? `${JSON.stringify({ ...app, ...lines }, null, 2)}\n` : textOf(app, lines));
}

/** The lines for an app. */
export interface Lines {
  install: string;
  /** The file that gets the code; `null` if the main file was not found. */
  file: string | null;
  /** Where the code goes in the file. */
  place: string;
  imports: string[];
  code: string[];
  next: string;
  guide: string;
}

export function linesFor({
  host,
  manager,
  syntax,
  main,
}: Pick<App, "host" | "manager" | "syntax" | "main">): Lines {
  const { adapter, imports, service = SERVICE, code, place, guide, ...own }: Host = HOSTS[host];
  const file = own.file ?? main;
  const all = [...COMMON_IMPORTS, ...imports].sort((one, other) => nodeFirst(one) - nodeFirst(other));
  return {
    install: [INSTALL[manager], ...[...COMMON_PACKAGES, adapter].sort()].join(" "),
    file,
    place,
    // A route file of Next.js is a module in every app.
    imports: syntax === "import" || file !== main ? all : all.map(required),
    code: [...service, ...code],
    next: NEXT_STEP,
    guide,
  };
}

function nodeFirst(line: string): number {
  return line.includes('"node:') ? 0 : 1;
}

/** An import of names as a call of `require`. */
function required(line: string): string {
  return line.replace(/^import \{(.*)\} from (".*");$/, (_, names: string, from: string) => {
    return `const {${names.replaceAll(" as ", ": ")}} = require(${from});`;
  });
}

function textOf({ host, isPlain, isTypeScript, syntax }: App, lines: Lines): string {
  const { install, file, place, imports, code, next, guide } = lines;
  const language = isTypeScript ? "TypeScript" : syntax === "import" ? "ES modules" : "CommonJS";
  const what = isPlain
    ? "package.json names no known framework. These lines are for node:http"
    : `${HOSTS[host].title}, ${language}`;
  const indented = [...imports, "", ...code].map((line) => (line === "" ? "" : `   ${line}`));
  return [
    what,
    "",
    "1. Install",
    `   ${install}`,
    "",
    `2. Add to ${file ?? "the main file"}: ${place}`,
    "",
    ...indented,
    "",
    "3. Start the app, then check it under its own address",
    `   ${next}`,
    "",
    `Guide: ${guide}`,
    "",
  ].join("\n");
}
