import type { ApiOperation, ApiResponse, ApiTag } from "./document.ts";

export const HEAD_TAG: ApiTag = {
  name: "Headers only",
  description: "The same requests with HEAD: status and headers of the GET response, without the body.",
};

/** Statuses of GET only: HEAD ignores ranges. */
const ONLY_GET = ["206", "416"];

/** The HEAD operation for the GET operation `operation`. */
export function headOf(operation: ApiOperation): ApiOperation {
  const responses = Object.entries(operation.responses)
    .filter(([status]) => !ONLY_GET.includes(status))
    .map(([status, response]) => [status, withoutContent(response)]);
  const { description: _ofBody, ...others } = operation;
  return {
    ...others,
    operationId: `${operation.operationId}Head`,
    tags: [HEAD_TAG.name],
    summary: `${operation.summary} (headers only)`,
    responses: Object.fromEntries(responses),
  };
}

function withoutContent({ content: _content, ...response }: ApiResponse): ApiResponse {
  return response;
}
