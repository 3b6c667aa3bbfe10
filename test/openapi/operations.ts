import type { ApiDocument } from "@outrigger/core";
import type { ApiOperation, ApiParameter, Method } from "../../packages/core/src/openapi/document.ts";

/** One operation of a document. */
export interface Described {
  /** Upper case. */
  method: string;
  /** As a template. */
  path: string;
  operation: ApiOperation;
  parameters: readonly ApiParameter[];
}

const METHODS: readonly Method[] = ["get", "head", "post", "patch", "delete"];

export function operationsOf({ paths }: ApiDocument): Described[] {
  return Object.entries(paths).flatMap(([path, item]) =>
    METHODS.flatMap((method) => {
      const operation = item[method];
      if (operation === undefined) return [];
      const parameters = [...(item.parameters ?? []), ...(operation.parameters ?? [])];
      return [{ method: method.toUpperCase(), path, operation, parameters }];
    }),
  );
}

/** Names an operation and one of its answers. */
export function answerName(
  { method, path }: Pick<Described, "method" | "path">,
  status: number | string,
): string {
  return `${method} ${path} ${status}`;
}

/** Every answer that a document describes; `default` is what a client gets that follows a redirect. */
export function documentedAnswers(document: ApiDocument): string[] {
  return operationsOf(document).flatMap((described) =>
    Object.keys(described.operation.responses)
      .filter((status) => status !== "default")
      .map((status) => answerName(described, status)),
  );
}
