import { expect, test } from "vitest";
import { faultsOfResponse } from "./openapi/check-answer.ts";
import { operationsOf } from "./openapi/operations.ts";
import { startApi } from "./openapi/sites.ts";

test("the OpenAPI document names the header of cacheTag in each response that carries an image's bytes, or says that they are current", async () => {
  const api = await startApi({ images: { cacheTag: "Surrogate-Key" } });
  const { id } = await api.create();
  const described = operationsOf(api.document).filter(({ operation }) =>
    JSON.stringify(operation).includes('"Surrogate-Key"'),
  );
  const reads = Object.keys(api.document.paths).filter((path) => /images\/\{id\}\.(?!json)/.test(path));
  expect(new Set(described.map(({ path }) => path))).toEqual(new Set([...reads, "/{id}"]));
  for (const headers of [{}, { Range: "bytes=0-0" }, { "If-None-Match": "*" }]) {
    for (const target of [`/api/images/${id}.png`, `/${id}`]) {
      const answer = await api.send({ method: "GET", target, headers });
      const path = target.replace(id, "{id}");
      const response = api.document.paths[path]?.get?.responses[answer.status];
      expect(answer.headers["surrogate-key"]).toBe(id);
      expect(response?.headers?.["Surrogate-Key"]).toBeDefined();
      expect(faultsOfResponse(api.document, api.schemas, response ?? { description: "" }, answer)).toEqual(
        [],
      );
    }
  }
  await api.stop();
});
