import { join } from "node:path";
import { programs, run } from "../support/programs.ts";

/** Paths of a certificate for 127.0.0.1 that no client trusts by default, and of its key. */
export interface SelfSigned {
  certificate: string;
  key: string;
}

/**
 * Makes a certificate for one day, in a directory of the test's own.
 * @param names Of the certificate, instead of 127.0.0.1.
 */
export async function createSelfSigned(directory: string, names = "IP:127.0.0.1"): Promise<SelfSigned> {
  const paths = { certificate: join(directory, "certificate.pem"), key: join(directory, "key.pem") };
  const { status, stderr } = await run(programs.openssl, [
    ...["req", "-x509", "-days", "1", "-subj", "/CN=localhost", "-addext", `subjectAltName=${names}`],
    ...["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"],
    ...["-out", paths.certificate, "-keyout", paths.key],
  ]);
  if (status !== 0) throw new Error(`openssl: ${stderr}`);
  return paths;
}
