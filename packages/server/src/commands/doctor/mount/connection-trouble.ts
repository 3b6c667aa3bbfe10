import { isError, systemCode } from "@outrigger/core";
import { reasonOf } from "../../../cli/error-reason.ts";

/** Why there was no reply, and what helps. */
export interface ConnectionTrouble {
  /** Without a full stop. */
  detail: string;
  remedy: string;
}

const RENEW = "Have it renewed, and the server read the new one";
const TRUST =
  "Get one of an authority that clients know, or run this with NODE_EXTRA_CA_CERTS naming your own authority's";

const TROUBLES: Readonly<Record<string, ConnectionTrouble>> = {
  ENOTFOUND: { detail: "the DNS does not know this name", remedy: "Make an A or AAAA record for it" },
  EAI_AGAIN: { detail: "the DNS does not answer", remedy: "Look at this machine's resolver, and try again" },
  ECONNREFUSED: {
    detail: "nothing listens there",
    remedy: "Start the app, and look at the port and at the address that it listens on",
  },
  EHOSTUNREACH: { detail: "there is no way to this host", remedy: "Look at routes and firewalls" },
  ENETUNREACH: { detail: "there is no way to this network", remedy: "Look at routes and firewalls" },
  ETIMEDOUT: { detail: "nothing answers in time", remedy: "Look at firewalls, and whether the app is busy" },
  CERT_HAS_EXPIRED: { detail: "its certificate has expired", remedy: RENEW },
  CERT_NOT_YET_VALID: {
    detail: "its certificate is not valid yet",
    remedy: "Compare the clocks of this machine and of whoever made it",
  },
  DEPTH_ZERO_SELF_SIGNED_CERT: { detail: "its certificate is self-signed", remedy: TRUST },
  SELF_SIGNED_CERT_IN_CHAIN: { detail: "its certificate is of an authority nobody knows", remedy: TRUST },
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: {
    detail: "its certificate is of an authority nobody knows",
    remedy: TRUST,
  },
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: {
    detail:
      "the authority of its certificate is unknown, or the server does not send the certificates in between",
    remedy: "Have the server send the full chain (nginx: ssl_certificate with fullchain.pem)",
  },
  ERR_TLS_CERT_ALTNAME_INVALID: {
    detail: "its certificate is for another name",
    remedy: "Get one for this name, or use the name that the certificate has",
  },
  EPROTO: {
    detail: "what listens there does not speak TLS, or none that this machine accepts",
    remedy: "Try http:// to see, and have whoever listens there speak TLS 1.2 or newer",
  },
  ECONNRESET: {
    detail: "the connection was cut without a reply",
    remedy: "Look into the logs of the proxy and of the app",
  },
};

/** Node's name for what went wrong, e.g. `ECONNREFUSED`. */
export function troubleCode(error: unknown): string {
  if (!isError(error)) return "";
  // An AggregateError, of several addresses of one name.
  if ("errors" in error && Array.isArray(error.errors)) return troubleCode(error.errors[0]);
  const code = systemCode(error) ?? "";
  if (code.startsWith("ERR_SSL_") || code === "ERR_TLS_CERT_SIGNATURE_ALGORITHM_UNSUPPORTED") return "EPROTO";
  if (code.startsWith("HPE_") || code === "EPIPE") return "ECONNRESET";
  return code;
}

/** What an error of a connection means, and what to do about it. */
export function explainTrouble(error: unknown): ConnectionTrouble {
  const known = TROUBLES[troubleCode(error)];
  if (known !== undefined) return known;
  return {
    detail: `the connection failed: ${reasonOf(error)}`,
    remedy: "Look into the logs of whoever is in front",
  };
}
