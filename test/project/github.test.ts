import { readdir } from "node:fs/promises";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { readText, root } from "./copy.ts";
import { workflowErrors } from "./workflow-errors.ts";

const WORKFLOWS = ".github/workflows";
const workflows = await readdir(`${root}/${WORKFLOWS}`);
test.each(workflows)("GitHub's parser accepts the workflow %s", async (name) => {
  expect(await workflowErrors(name, await readText(root, `${WORKFLOWS}/${name}`))).toEqual([]);
});

test("GitHub's parser rejects a workflow with an unknown key", async () => {
  const content = await readText(root, `${WORKFLOWS}/ci.yml`);
  expect(await workflowErrors("ci.yml", content.replace("runs-on:", "runs-at:"))).not.toEqual([]);
});

test("CI runs on the oldest supported Node, quick tests for pull requests, all on main, and the nightly ones by schedule", async () => {
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
  expect(steps).toContainEqual(
    expect.objectContaining({
      if: "github.event_name == 'schedule'",
      run: expect.stringMatching(/npm test -- --nightly$/),
    }),
  );
  expect(ci.on.push.branches).toEqual(["main"]);
  expect(ci.on.schedule).toHaveLength(1);
});

test("the release workflow publishes by the release script with the permission to sign provenance", async () => {
  const { jobs, permissions } = parse(await readText(root, `${WORKFLOWS}/release.yml`));
  expect(permissions).toEqual({ contents: "read" });
  expect(jobs.release.permissions).toEqual({ contents: "write", "id-token": "write" });
  const commands = jobs.release.steps.map((step: { run?: string }) => step.run ?? "").join("\n");
  expect(commands).toContain("npm pack --dry-run --workspaces");
  expect(commands).toMatch(/^npm run release$/m);
  expect(commands).toContain("npm sbom --sbom-format=cyclonedx --omit=dev --package-lock-only");
});

test("the pull request template names the change file", async () => {
  expect(await readText(root, ".github/PULL_REQUEST_TEMPLATE.md")).toContain("npm run changeset");
});
