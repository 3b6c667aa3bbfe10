import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, extname, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { readWatermark } from "@outrigger/core/images";
import { isError } from "@outrigger/core/values";
import { checkConfig } from "./check-config.ts";
import { ConfigError } from "./config-error.ts";
import type { ServerConfig, ServerImagesConfig, ServerLookupConfig } from "./config-rules.ts";
import { resolveStorage } from "./storage-config.ts";
import { resolveDatabaseUrl } from "./targets/database-target.ts";

const NAMES = ["outrigger.config.json", "outrigger.config.mjs"];

/**
 * The validated configuration of a file; empty without a file.
 * A relative path in its `data`, `storage` or `lookup.database`, or of a watermark, is resolved against the directory of the
 * file. Watermarks are read.
 * @param named The file to read. Absent: `outrigger.config.json` or `.mjs` in the working directory.
 * @throws ConfigError
 */
export async function readConfigFile(named: string | undefined): Promise<ServerConfig> {
  const name = named ?? findFile();
  if (name === undefined) return {};
  const path = resolve(name);
  const config = checkConfig(await readValue(name, path), name);
  const directory = dirname(path);
  const { data, storage, lookup, images } = config;
  return {
    ...config,
    images: images && withWatermarks(images, directory, name),
    data: data && resolve(directory, data),
    storage: storage && resolveStorage(storage, directory),
    lookup: lookup && resolveLookup(lookup, directory),
  };
}

function resolveLookup(lookup: ServerLookupConfig, directory: string): ServerLookupConfig {
  const { database } = lookup;
  return { ...lookup, database: database && resolveDatabaseUrl(database, directory) };
}

/** Replaces the paths of watermarks by the bytes of the files. @throws ConfigError */
function withWatermarks(
  { presets, ...images }: ServerImagesConfig,
  directory: string,
  name: string,
): ServerImagesConfig {
  if (presets === undefined) return images;
  const entries = Object.entries(presets).map(([preset, option]) => {
    const { watermark } = option;
    if (typeof watermark?.image !== "string") return [preset, option];
    try {
      const image = readWatermark(resolve(directory, watermark.image));
      return [preset, { ...option, watermark: { ...watermark, image } }];
    } catch (error) {
      const reason = isError(error) ? error.message : String(error);
      throw new ConfigError(name, [`images.presets.${preset}.watermark.image: ${reason}`], { cause: error });
    }
  });
  return { ...images, presets: Object.fromEntries(entries) };
}

function findFile(): string | undefined {
  const found = NAMES.filter((name) => existsSync(name));
  if (found.length > 1) {
    throw new ConfigError("The working directory", [
      `${found.join(" and ")}: remove one, or choose one with --config`,
    ]);
  }
  return found[0];
}

async function readValue(name: string, path: string): Promise<unknown> {
  const extension = extname(path);
  if (extension !== ".json" && extension !== ".mjs") throw unreadable(name, "must end in .json or .mjs");
  if (!existsSync(path)) throw unreadable(name, "there is no such file");
  try {
    return extension === ".json" ? JSON.parse(await readFile(path, "utf8")) : await defaultExport(path);
  } catch (error) {
    const [reason] = (isError(error) ? error.message : String(error)).split("\n");
    throw unreadable(name, reason ?? "", error);
  }
}

async function defaultExport(path: string): Promise<unknown> {
  const module: { default?: unknown } = await import(pathToFileURL(path).href);
  if (module.default === undefined) throw new TypeError("it has no default export");
  return typeof module.default === "function" ? module.default() : module.default;
}

function unreadable(name: string, problem: string, cause?: unknown): ConfigError {
  return new ConfigError("The configuration file", [`${name}: ${problem}`], { cause });
}
