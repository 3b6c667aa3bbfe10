import { readdir } from "node:fs/promises";
import { Ajv } from "ajv";
import formats from "ajv-formats";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { readText, root } from "./copy.ts";
import { dependabotSchema, issueConfigSchema, issueFormSchema } from "./github-schemas.ts";
import { workflowErrors } from "./workflow-errors.ts";

const WORKFLOWS = ".github/workflows";
const FORMS = ".github/ISSUE_TEMPLATE";
const workflows = await readdir(`${root}/${WORKFLOWS}`);
const forms = (await readdir(`${root}/${FORMS}`)).filter((name) => name !== "config.yml");

function schemaErrors(schema: object, value: unknown): string[] {
  const ajv = new Ajv({ allErrors: true });
  formats.default(ajv);
  const isValid = ajv.compile(schema);
  return isValid(value)
    ? []
    : (isValid.errors ?? []).map((error) => `${error.instancePath} ${error.message}`);
}

test.each(workflows)("GitHub's parser accepts the workflow %s", async (name) => {
  expect(await workflowErrors(name, await readText(root, `${WORKFLOWS}/${name}`))).toEqual([]);
});

test("GitHub's parser rejects a workflow with an unknown key", async () => {
  const content = await readText(root, `${WORKFLOWS}/ci.yml`);
  expect(await workflowErrors("ci.yml", content.replace("runs-on:", "runs-at:"))).not.toEqual([]);
});

test("CI runs on the oldest supported Node, quick tests for pull requests and all tests on main", async () => {
  const ci = parse(await readText(root, `${WORKFLOWS}/ci.yml`));
  const { engines } = JSON.parse(await readText(root, "package.json"));
  const { strategy, steps } = ci.jobs.test;
  expect(`>=${strategy.matrix.node[0]}`).toBe(engines.node);
  expect(steps).toContainEqual(
    expect.objectContaining({
      if: "github.event_name == 'pull_request'",
      run: expect.stringMatching(/npm test$/),
    }),
  );
  expect(steps).toContainEqual(
    expect.objectContaining({ if: "github.event_name == 'push'", run: expect.stringMatching(/\.ci\/run$/) }),
  );
  expect(ci.on.push.branches).toEqual(["main"]);
});

test("the release workflow runs the release script with the permission to sign provenance", async () => {
  const { jobs, permissions } = parse(await readText(root, `${WORKFLOWS}/release.yml`));
  expect(permissions).toEqual({ contents: "read" });
  expect(jobs.release.permissions).toEqual({ contents: "write", "id-token": "write" });
  const commands = jobs.release.steps.map((step: { run?: string }) => step.run ?? "").join("\n");
  expect(commands).toContain("npm run release -- --dry-run");
  expect(commands).toMatch(/npm run release$/m);
});

test.each(forms)("the issue form %s has the shape that GitHub takes, with unique ids", async (name) => {
  const form = parse(await readText(root, `${FORMS}/${name}`));
  expect(schemaErrors(issueFormSchema, form)).toEqual([]);
  const ids = form.body.flatMap(({ id }: { id?: string }) => id ?? []);
  expect(ids.length).toBeGreaterThan(0);
  expect(new Set(ids).size).toBe(ids.length);
});

test("an issue form with an unknown element is rejected", () => {
  const body = [{ type: "slider", attributes: { label: "How bad" } }];
  expect(schemaErrors(issueFormSchema, { name: "Bug", description: "A bug", body })).not.toEqual([]);
});

test("the configuration of the issue page has the shape that GitHub takes", async () => {
  expect(schemaErrors(issueConfigSchema, parse(await readText(root, `${FORMS}/config.yml`)))).toEqual([]);
});

test("Dependabot's configuration has the shape that GitHub takes", async () => {
  expect(schemaErrors(dependabotSchema, parse(await readText(root, ".github/dependabot.yml")))).toEqual([]);
});

test("the pull request template names the change file", async () => {
  expect(await readText(root, ".github/PULL_REQUEST_TEMPLATE.md")).toContain("npm run changeset");
});
