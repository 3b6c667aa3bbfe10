import { readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";

const CONFIG = "/etc/fonts";
/** What fontconfig reads without a configuration, and the files that the links in its configuration lead to. */
const DEFAULTS = ["/usr/share/fonts", "/usr/local/share/fonts", "/usr/share/fontconfig"];
const ELEMENT = /<(dir|cachedir|include)\b([^>]*)>([^<]+)<\//g;

/** The configuration of fontconfig, the directories of fonts that it names, and its caches. They may be missing. */
export function visibleFonts(environment: NodeJS.ProcessEnv): string[] {
  const { HOME: home = "/" } = environment;
  const bases: Record<string, string> = {
    dir: environment.XDG_DATA_HOME ?? join(home, ".local/share"),
    cachedir: environment.XDG_CACHE_HOME ?? join(home, ".cache"),
    include: environment.XDG_CONFIG_HOME ?? join(home, ".config"),
  };
  const visible = new Set<string>([CONFIG, ...DEFAULTS]);

  function readConfig(path: string): void {
    if (visible.has(path) && path !== CONFIG) return;
    visible.add(path);
    let text: string;
    try {
      if (statSync(path).isDirectory()) {
        for (const name of readdirSync(path)) if (name.endsWith(".conf")) readConfig(join(path, name));
        return;
      }
      text = readFileSync(path, "utf8");
    } catch {
      // fontconfig ignores it, too.
      return;
    }
    for (const [, name = "", attributes = "", value = ""] of text.matchAll(ELEMENT)) {
      const target = locate(name, attributes, value.trim(), path);
      if (name === "include") readConfig(target);
      else visible.add(target);
    }
  }

  function locate(name: string, attributes: string, value: string, config: string): string {
    if (value.startsWith("~")) return join(home, value.slice(1));
    if (isAbsolute(value)) return value;
    return join(attributes.includes('"xdg"') ? (bases[name] ?? home) : dirname(config), value);
  }

  const directory = environment.FONTCONFIG_PATH ?? CONFIG;
  const file = environment.FONTCONFIG_FILE ?? "fonts.conf";
  readConfig(isAbsolute(file) ? file : join(directory, file));
  return [...visible];
}
