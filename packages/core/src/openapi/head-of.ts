import type { ApiOperation, ApiResponse, ApiTag } from "./document.ts";

export const HEAD_TAG: ApiTag = {
  name: "Headers only",
  description: "The same requests by HEAD: status and headers of what GET would answer, without the body.",
};

/** Of GET alone: parts are not for HEAD. */
const ONLY_GET = ["206", "416"];

/** What HEAD does where GET does `operation`. */
export function headOf(operation: ApiOperation): ApiOperation {
  const responses = Object.entries(operation.responses)
    .filter(([status]) => !ONLY_GET.includes(status))
    .map(([status, response]) => [status, withoutContent(response)]);
  const { description: _ofBody, ...others } = operation;
  return {
    ...others,
    operationId: `${operation.operationId}Head`,
    tags: [HEAD_TAG.name],
    summary: `${operation.summary}: headers`,
    responses: Object.fromEntries(responses),
  };
}

function withoutContent({ content: _content, ...response }: ApiResponse): ApiResponse {
  return response;
}
