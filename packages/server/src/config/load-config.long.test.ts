import { mkdir, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { outrigger, serve, temporaryDirectory } from "../../test/outrigger-process.ts";

async function isDirectory(path: string): Promise<boolean> {
  return stat(path).then(
    (stats) => stats.isDirectory(),
    () => false,
  );
}

describe("the configuration of outrigger serve", () => {
  it("prefers flags to the environment, the environment to the file, the file to the defaults", async () => {
    const cwd = await temporaryDirectory();
    const file = { port: 1, host: "192.0.2.1", data: "from-file", publicUrl: "https://file.example.com" };
    await writeFile(join(cwd, "outrigger.config.json"), JSON.stringify(file));
    const server = outrigger(["serve", "--host", "127.0.0.1", "--data", "from-flag"], {
      cwd,
      env: {
        PORT: "2",
        OUTRIGGER_PORT: "0",
        OUTRIGGER_HOST: "192.0.2.2",
        OUTRIGGER_DATA: "from-environment",
        OUTRIGGER_PUBLIC_URL: "https://environment.example.com",
      },
    });
    const url = await server.url;
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d{4,5}$/);
    expect(await (await fetch(url)).text()).toContain("https://environment.example.com/api/images.json");
    expect(await isDirectory(join(cwd, "from-flag"))).toBe(true);
    expect(await isDirectory(join(cwd, "from-environment"))).toBe(false);
    expect(await isDirectory(join(cwd, "from-file"))).toBe(false);
  });

  it("combines the metrics port of the environment with the metrics host of the file", async () => {
    const cwd = await temporaryDirectory();
    await writeFile(join(cwd, "outrigger.config.json"), '{"metrics": {"port": 1, "host": "localhost"}}');
    const server = serve(cwd, [], { OUTRIGGER_METRICS_PORT: "0" });
    await server.logged('"msg":"metrics"');
    expect(server.output.stderr).toMatch(/"url":"http:\/\/localhost:\d{4,5}\/metrics","msg":"metrics"/);
  });

  it("resolves --data against the working directory, and data in a file against the file", async () => {
    const cwd = await temporaryDirectory();
    await mkdir(join(cwd, "etc"));
    await writeFile(join(cwd, "etc", "some.json"), '{"data": "./kept"}');
    await serve(cwd, ["--config", "etc/some.json"]).url;
    expect(await isDirectory(join(cwd, "etc", "kept"))).toBe(true);
    await serve(cwd, ["--config", "etc/some.json", "--data", "./elsewhere"]).url;
    expect(await isDirectory(join(cwd, "elsewhere"))).toBe(true);
  });

  it("accepts a module that exports an object or an async function", async () => {
    for (const text of ['export default { data: "m" }', 'export default async () => ({ data: "m" })']) {
      const cwd = await temporaryDirectory();
      await writeFile(join(cwd, "outrigger.config.mjs"), text);
      await serve(cwd).url;
      expect(await isDirectory(join(cwd, "m"))).toBe(true);
    }
  });
});

describe("outrigger serve with an invalid configuration", () => {
  async function refusal(setup: {
    file?: [name: string, text: string];
    args?: string[];
    env?: Record<string, string>;
  }): Promise<string> {
    const cwd = await temporaryDirectory();
    if (setup.file !== undefined) await writeFile(join(cwd, setup.file[0]), setup.file[1]);
    const server = serve(cwd, setup.args, setup.env);
    expect(await server.exit).toBe(2);
    expect(server.output.stdout).toBe("");
    return server.output.stderr;
  }

  it("names an invalid flag", async () => {
    expect(await refusal({ args: ["--port", "http"] })).toBe(
      "outrigger: --port: must be a whole number from 0 to 65535\n",
    );
  });

  it("names an invalid variable without quoting its value", async () => {
    const env = {
      PORT: "70000",
      OUTRIGGER_SECRET: "hush",
      OUTRIGGER_PUBLIC_URL: "/img",
      OUTRIGGER_METRICS_PORT: "http",
    };
    expect(await refusal({ env })).toBe(
      "outrigger: The environment is not valid\n" +
        "PORT: must be a whole number from 0 to 65535\n" +
        "OUTRIGGER_PUBLIC_URL: must be an http(s) URL without credentials, query or fragment, such as https://example.com/img\n" +
        "OUTRIGGER_SECRET: must be a text of at least 32 bytes, or a list of such texts\n" +
        "OUTRIGGER_METRICS_PORT: must be a whole number from 0 to 65535\n",
    );
  });

  it("names a file that is missing, is invalid JSON, exports nothing, throws, or has another suffix", async () => {
    const head = "outrigger: The configuration file is not valid\n";
    expect(await refusal({ args: ["--config", "no.json"] })).toBe(`${head}no.json: there is no such file\n`);
    expect(await refusal({ file: ["a.yml", ""], args: ["--config", "a.yml"] })).toBe(
      `${head}a.yml: must end in .json or .mjs\n`,
    );
    expect(await refusal({ file: ["outrigger.config.json", "{port: 1}"] })).toMatch(
      /^outrigger: The configuration file is not valid\noutrigger\.config\.json: .*JSON.*\n$/,
    );
    expect(await refusal({ file: ["outrigger.config.mjs", "export const port = 1"] })).toBe(
      `${head}outrigger.config.mjs: it has no default export\n`,
    );
    expect(
      await refusal({
        file: ["outrigger.config.mjs", "export default () => { throw new Error('no luck') }"],
      }),
    ).toBe(`${head}outrigger.config.mjs: no luck\n`);
  });

  it("rejects two configuration files in the working directory", async () => {
    const cwd = await temporaryDirectory();
    await writeFile(join(cwd, "outrigger.config.json"), "{}");
    await writeFile(join(cwd, "outrigger.config.mjs"), "export default {}");
    const server = serve(cwd);
    expect(await server.exit).toBe(2);
    expect(server.output.stderr).toContain(
      "outrigger.config.json and outrigger.config.mjs: remove one, or choose one with --config",
    );
  });
});
