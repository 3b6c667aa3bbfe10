// The security contact in SECURITY.md, between two marks.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const FILE = "SECURITY.md";
const PLACE = /(<!-- securityContact -->\n)[\s\S]*?(<!-- \/securityContact -->)/;

/** Whether SECURITY.md has the contact of project.json. */
export function hasSecurityContact(root, project) {
  const text = readFileSync(join(root, FILE), "utf8");
  return text === filled(text, project);
}

/** Writes the contact of project.json into SECURITY.md. */
export function writeSecurityContact(root, project) {
  const path = join(root, FILE);
  const text = readFileSync(path, "utf8");
  writeFileSync(path, filled(text, project));
}

function filled(text, { securityContact }) {
  if (!PLACE.test(text)) throw new Error(`${FILE} has no <!-- securityContact --> marks`);
  return text.replace(PLACE, (_, begin, end) => `${begin}${sentence(securityContact)}\n${end}`);
}

function sentence(contact) {
  if (contact === null) {
    return [
      "The contact is set before the first release, as `securityContact` in `scripts/release/project.json`. Until then, report in private to",
      "the person or organization that gave you the sources.",
    ].join("\n");
  }
  const address = contact.startsWith("mailto:") ? contact.slice("mailto:".length) : contact;
  return `Send the report to <${address}>.`;
}
