import { jsonReply } from "../../../openapi/operations.ts";
import { reportBody } from "./image-bodies.ts";
import type { DeclaredOperation } from "./image-path.ts";
import { RECEIPT } from "./image-schemas.ts";

const WHY = {
  400: "a field is missing or invalid; `detail` names it.",
  403: "the connection is not secure, this client may not read the image, or a browser sent the report from another site.",
  404: "there is no such image, or it is gone for good.",
  410: "the image was deleted or has expired, so there is nothing to report.",
  451: "the image is withheld already.",
};

/** `POST {base}/api/reports.json` */
export function createReportOperation(): DeclaredOperation {
  return {
    operationId: "reportImage",
    summary: "Report an image",
    description:
      "Tells the operator about an image that should not be here. Needs no PIN. Reports of an image are joined until the operator decides.",
    requestBody: reportBody(),
    replies: { 201: jsonReply("The report was received.", RECEIPT, "Cache-Control") },
    refusals: [403, 404, 410, 451, 500, 507],
    why: WHY,
  };
}
