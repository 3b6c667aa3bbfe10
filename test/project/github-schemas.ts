/** The parts of GitHub's formats that this project uses, as JSON Schemas. The workflows are checked by GitHub's own parser. */

const text = { type: "string", minLength: 1 };
const flag = { type: "boolean" };

function object(properties: Record<string, object>, required: string[] = []): object {
  return { type: "object", additionalProperties: false, properties, required };
}

function list(items: object): object {
  return { type: "array", minItems: 1, items };
}

const described = { label: text, description: text };
const ATTRIBUTES: Readonly<Record<string, object>> = {
  markdown: object({ value: text }, ["value"]),
  input: object({ ...described, placeholder: text, value: text }, ["label"]),
  textarea: object({ ...described, placeholder: text, value: text, render: text }, ["label"]),
  dropdown: object(
    {
      ...described,
      multiple: flag,
      default: { type: "integer" },
      options: { ...list(text), uniqueItems: true },
    },
    ["label", "options"],
  ),
  checkboxes: object({ ...described, options: list(object({ label: text, required: flag }, ["label"])) }, [
    "label",
    "options",
  ]),
};

const elements = Object.entries(ATTRIBUTES).map(([type, attributes]) =>
  object(
    {
      type: { const: type },
      attributes,
      // A markdown element takes no answer.
      ...(type !== "markdown" && {
        id: { type: "string", pattern: "^[A-Za-z0-9_-]+$" },
        validations: object({ required: flag }),
      }),
    },
    ["type", "attributes"],
  ),
);

export const issueFormSchema = object(
  {
    name: text,
    description: text,
    title: text,
    labels: list(text),
    assignees: list(text),
    body: list({ oneOf: elements }),
  },
  ["name", "description", "body"],
);

export const issueConfigSchema = object({
  blank_issues_enabled: flag,
  contact_links: list(
    object({ name: text, url: { type: "string", format: "uri" }, about: text }, ["name", "url", "about"]),
  ),
});

const updateTypes = list({ enum: ["major", "minor", "patch"] });
const ignoredTypes = list({
  enum: ["major", "minor", "patch"].map((type) => `version-update:semver-${type}`),
});
const group = object({
  "dependency-type": { enum: ["development", "production"] },
  "update-types": updateTypes,
  patterns: list(text),
});

export const dependabotSchema = object(
  {
    version: { const: 2 },
    updates: list(
      object(
        {
          "package-ecosystem": { enum: ["npm", "github-actions", "docker", "devcontainers"] },
          directory: { type: "string", pattern: "^/" },
          schedule: object({ interval: { enum: ["daily", "weekly", "monthly"] } }, ["interval"]),
          "commit-message": object({ prefix: { type: "string", maxLength: 50 } }),
          groups: { type: "object", additionalProperties: group },
          ignore: list(
            object({ "dependency-name": text, "update-types": ignoredTypes }, ["dependency-name"]),
          ),
        },
        ["package-ecosystem", "directory", "schedule"],
      ),
    ),
  },
  ["version", "updates"],
);

export const devcontainerSchema = object(
  {
    name: text,
    build: object({ dockerfile: text, context: text }, ["dockerfile"]),
    remoteUser: text,
    privileged: flag,
    init: flag,
    forwardPorts: list({ type: "integer", minimum: 1, maximum: 65_535 }),
    postCreateCommand: text,
    customizations: { type: "object" },
  },
  ["name", "build"],
);
