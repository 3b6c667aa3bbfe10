import { isError, systemCode } from "@outrigger/core/values";
import { reasonOf } from "../../../cli/error-reason.ts";

/** Why there was no reply, with the remedy. */
export interface ConnectionTrouble {
  /** Without a full stop. */
  detail: string;
  remedy: string;
}

const RENEW = "Renew the certificate, and let the server load the new one";
const TRUST =
  "Get a certificate from a public authority, or set NODE_EXTRA_CA_CERTS to the certificate of your own authority";

const TROUBLES: Readonly<Record<string, ConnectionTrouble>> = {
  ENOTFOUND: { detail: "this name is not in the DNS", remedy: "Create an A or AAAA record for it" },
  EAI_AGAIN: { detail: "the DNS does not respond", remedy: "Check this machine's resolver, and try again" },
  ECONNREFUSED: {
    detail: "nothing listens at this address",
    remedy: "Start the app, and check the port and address that it listens on",
  },
  EHOSTUNREACH: { detail: "there is no route to this host", remedy: "Check routes and firewalls" },
  ENETUNREACH: { detail: "there is no route to this network", remedy: "Check routes and firewalls" },
  ETIMEDOUT: {
    detail: "nothing answers in time",
    remedy: "Check firewalls, and whether the app is overloaded",
  },
  CERT_HAS_EXPIRED: { detail: "its certificate has expired", remedy: RENEW },
  CERT_NOT_YET_VALID: {
    detail: "its certificate is not valid yet",
    remedy: "Compare the clocks of this machine and of the certificate authority",
  },
  DEPTH_ZERO_SELF_SIGNED_CERT: { detail: "its certificate is self-signed", remedy: TRUST },
  SELF_SIGNED_CERT_IN_CHAIN: { detail: "its certificate comes from an unknown authority", remedy: TRUST },
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: {
    detail: "its certificate comes from an unknown authority",
    remedy: TRUST,
  },
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: {
    detail:
      "the authority of its certificate is unknown, or the server does not send the intermediate certificates",
    remedy: "Let the server send the full chain (nginx: ssl_certificate with fullchain.pem)",
  },
  ERR_TLS_CERT_ALTNAME_INVALID: {
    detail: "its certificate is for another name",
    remedy: "Get a certificate for this name, or use the name in the certificate",
  },
  EPROTO: {
    detail: "the server does not speak TLS, or no version that this machine accepts",
    remedy: "Try http://, and let the server speak TLS 1.2 or newer",
  },
  ECONNRESET: {
    detail: "the connection was cut without a reply",
    remedy: "Check the logs of the proxy and of the app",
  },
};

/** Node's code of an error, e.g. `ECONNREFUSED`. */
export function troubleCode(error: unknown): string {
  if (!isError(error)) return "";
  // An AggregateError, from several addresses of one name.
  if ("errors" in error && Array.isArray(error.errors)) return troubleCode(error.errors[0]);
  const code = systemCode(error) ?? "";
  if (code.startsWith("ERR_SSL_") || code === "ERR_TLS_CERT_SIGNATURE_ALGORITHM_UNSUPPORTED") return "EPROTO";
  if (code.startsWith("HPE_") || code === "EPIPE") return "ECONNRESET";
  return code;
}

/** Explains a connection error, with the remedy. */
export function explainTrouble(error: unknown): ConnectionTrouble {
  const known = TROUBLES[troubleCode(error)];
  if (known !== undefined) return known;
  return {
    detail: `the connection failed: ${reasonOf(error)}`,
    remedy: "Check the logs of the proxy in front",
  };
}
