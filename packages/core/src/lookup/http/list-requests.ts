import { Readable } from "node:stream";
import type { Call, Reply } from "../../contracts/call.ts";
import type { VerificationList } from "../../contracts/verification-queue.ts";
import { clientKey, networkKey } from "../../http/client.ts";
import { type JsonSchema, patternOf } from "../../schema/json-schema.ts";
import { emailVerifier } from "../operations/email-verifier.ts";
import { type Given, wholeOf } from "../operations/given.ts";
import { LARGEST_WHOLE, type WholeSchema } from "../operations/parameters.ts";
import { SAMPLE_CONTACT } from "../operations/samples.ts";
import { MAX_ROWS } from "../verifications/list-rows.ts";
import { storedResult } from "../verifications/row-result.ts";
import { addList, findList, listAnswer, listCsv } from "../verifications/verification-lists.ts";
import { authenticate, type Caller, countRequest, type LookupHttp } from "./answer-request.ts";
import { readQuery } from "./query.ts";
import { HEADERS, headReply, jsonReply, RefusedRequest, retryAfter } from "./refusal.ts";

/** The parameter `limit` of a list. */
export const LIST_LIMIT_SCHEMA = {
  type: "integer",
  minimum: 0,
  maximum: 1000,
  default: 100,
  description: "Results per page; 0 is the default.",
} as const satisfies WholeSchema;

/** The parameter `offset` of a list. */
export const LIST_OFFSET_SCHEMA = {
  type: "integer",
  minimum: 0,
  maximum: LARGEST_WHOLE,
  default: 0,
  description: "Number of addresses to skip.",
} as const satisfies WholeSchema;

export const LIST_ID_SCHEMA = {
  type: "string",
  pattern: "^[A-Za-z0-9_-]{22}$",
} as const satisfies JsonSchema;

const LIST_ID = patternOf(LIST_ID_SCHEMA);

/** Enough for 100,000 addresses and some columns. */
const LIST_BOUNDS = { maxBytes: 16 * 1024 * 1024, maxRows: MAX_ROWS };
/** Anybody can send lists with the test key. */
const TEST_BOUNDS = { maxBytes: 64 * 1024, maxRows: 100 };
const RETRY_AFTER_MS = 2000;
/** ID of the list that the test key gets. */
const SAMPLE_ID = "sample-verification-00";

/** `POST /v2/email-verifications` */
export async function addListReply(http: LookupHttp, call: Call): Promise<Reply> {
  const { caller } = await admit(http, call);
  const client = caller.account === null ? networkOf(call) : `account ${caller.account.id}`;
  const bounds = caller.isTest ? TEST_BOUNDS : LIST_BOUNDS;
  const data = await http.lists.read(call, client, bounds, async (list) =>
    caller.isTest
      ? { id: SAMPLE_ID, total: list.rows.length, done: list.rows.length, status: "done" }
      : addList(http.lookup, caller.account, list),
  );
  const Location = `${call.origin}${call.mountPath}/v2/email-verifications/${data.id}`;
  return jsonReply(202, { data }, { Location, ...retryAfter(RETRY_AFTER_MS) });
}

/** `GET /v2/email-verifications/{id}` */
export async function listReply(http: LookupHttp, call: Call): Promise<Reply> {
  const { caller, query } = await admit(http, call);
  const limit = wholeOf(query, "limit", LIST_LIMIT_SCHEMA, "pagination_error") || LIST_LIMIT_SCHEMA.default;
  const page = { offset: wholeOf(query, "offset", LIST_OFFSET_SCHEMA, "pagination_error"), limit };
  const list = await requireList(http, call, caller);
  if (call.method === "HEAD") return headReply();
  return jsonReply(200, await listAnswer({ ...http.lookup, ...sourceOf(http, caller) }, list, page));
}

/** `GET /v2/email-verifications/{id}.csv` */
export async function listCsvReply(http: LookupHttp, call: Call): Promise<Reply> {
  const { caller } = await admit(http, call);
  const list = await requireList(http, call, caller);
  const headers = {
    ...HEADERS,
    "Content-Type": "text/csv; charset=utf-8",
    "Content-Disposition": `attachment; filename="${list.id}.csv"`,
  };
  if (call.method === "HEAD") return { status: 200, headers };
  const body = Readable.from(listCsv(sourceOf(http, caller), list), { objectMode: false });
  return { status: 200, headers, body };
}

/** The client: an IPv4 address, or an IPv6 /48, whose owner may send from all of its addresses. */
function networkOf({ clientIp }: Call): string {
  const client = clientKey(clientIp);
  return networkKey(client) ?? client;
}

export async function admit(http: LookupHttp, call: Call): Promise<{ caller: Caller; query: Given }> {
  await http.lookup.suppressions.ready();
  const query = readQuery(call.search);
  const caller = await authenticate(http, call, query);
  await countRequest(http, call, caller.account);
  return { caller, query };
}

async function requireList(
  http: LookupHttp,
  call: Call,
  { account, isTest }: Caller,
): Promise<VerificationList> {
  const id = /\/([^/]+?)(?:\.csv)?\/?$/.exec(call.path)?.[1] ?? "";
  if (isTest && id === SAMPLE_ID) return SAMPLE_LIST;
  const isOwn = (list: VerificationList) => account !== null && list.account === account.id;
  const list = isTest || !LIST_ID.test(id) ? null : await findList(http.lookup, id, isOwn);
  if (list === null) throw new RefusedRequest("not_found", "There is no list with this ID");
  return list;
}

const SAMPLE_LIST: VerificationList = {
  id: SAMPLE_ID,
  account: null,
  plan: "",
  header: null,
  createdAt: 0,
  total: 1,
  done: 1,
  isStarted: true,
};

/** Where the rows of a list are: those of the test key are fixed. */
function sourceOf({ lookup }: LookupHttp, { isTest }: Caller): Pick<LookupHttp["lookup"], "queue"> {
  if (!isTest) return lookup;
  const email = SAMPLE_CONTACT.address;
  const { data } = emailVerifier.sample(lookup, { email, parsed: null, waitMs: 0 });
  const { sources: _, ...verification } = { sources: [], ...data };
  const row = { email, subject: null, columns: null, result: storedResult(verification) };
  const rows = async (_id: string, { offset }: { offset: number }) => (offset === 0 ? [row] : []);
  return { queue: { ...lookup.queue, rows } };
}
