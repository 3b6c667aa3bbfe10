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

describe("outrigger serve, its configuration", () => {
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

  it("takes the port from PORT, and an empty variable for none", async () => {
    const cwd = await temporaryDirectory();
    await writeFile(join(cwd, "outrigger.config.json"), '{"port": 1}');
    const server = outrigger(["serve"], { cwd, env: { PORT: "0", OUTRIGGER_PORT: "", OUTRIGGER_HOST: "" } });
    expect(await server.url).toMatch(/^http:\/\/127\.0\.0\.1:\d{4,5}$/);
  });

  it("takes the port of the metrics from the environment, and their host from the file", async () => {
    const cwd = await temporaryDirectory();
    await writeFile(join(cwd, "outrigger.config.json"), '{"metrics": {"port": 1, "host": "localhost"}}');
    const server = serve(cwd, [], { OUTRIGGER_METRICS_PORT: "0" });
    await server.logged('"msg":"metrics"');
    expect(server.output.stderr).toMatch(/"url":"http:\/\/localhost:\d{4,5}\/metrics","msg":"metrics"/);
  });

  it("keeps images in ./data when nothing else is said", async () => {
    const cwd = await temporaryDirectory();
    await serve(cwd).url;
    expect(await isDirectory(join(cwd, "data"))).toBe(true);
  });

  it("counts --data from the working directory, and data in a file from the file", async () => {
    const cwd = await temporaryDirectory();
    await mkdir(join(cwd, "etc"));
    await writeFile(join(cwd, "etc", "some.json"), '{"data": "./kept"}');
    await serve(cwd, ["--config", "etc/some.json"]).url;
    expect(await isDirectory(join(cwd, "etc", "kept"))).toBe(true);
    await serve(cwd, ["--config", "etc/some.json", "--data", "./elsewhere"]).url;
    expect(await isDirectory(join(cwd, "elsewhere"))).toBe(true);
  });

  it("takes a module that exports an object, or a function that may take its time", async () => {
    for (const text of ['export default { data: "m" }', 'export default async () => ({ data: "m" })']) {
      const cwd = await temporaryDirectory();
      await writeFile(join(cwd, "outrigger.config.mjs"), text);
      await serve(cwd).url;
      expect(await isDirectory(join(cwd, "m"))).toBe(true);
    }
  });
});

describe("outrigger serve, when its configuration is wrong", () => {
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

  it("names the keys of the file, exits with 2, shows no stack", async () => {
    const config = { images: { maxUploadBytes: "25 MB", maxuploadbytes: 1 }, tsl: "off" };
    expect(await refusal({ file: ["outrigger.config.json", JSON.stringify(config)] })).toBe(
      "outrigger: outrigger.config.json is not valid\n" +
        "images.maxUploadBytes: must be a whole number from 1 to 2147483648\n" +
        "images.maxuploadbytes: unknown key, did you mean images.maxUploadBytes?\n" +
        "tsl: unknown key, did you mean tls?\n",
    );
  });

  it("names the flag", async () => {
    expect(await refusal({ args: ["--port", "http"] })).toBe(
      "outrigger: The command line is not valid\n--port: must be a whole number from 0 to 65535\n",
    );
  });

  it("names the variable, and does not repeat what is in it", async () => {
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

  it("names a file that is not there, is no JSON, exports nothing, throws, or has another ending", async () => {
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

  it("does not choose between two files", async () => {
    const cwd = await temporaryDirectory();
    await writeFile(join(cwd, "outrigger.config.json"), "{}");
    await writeFile(join(cwd, "outrigger.config.mjs"), "export default {}");
    const server = serve(cwd);
    expect(await server.exit).toBe(2);
    expect(server.output.stderr).toContain(
      "outrigger.config.json and outrigger.config.mjs: remove one, or name one by --config",
    );
  });
});
