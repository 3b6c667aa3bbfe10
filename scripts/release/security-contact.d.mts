import type { Project } from "./project.mjs";

export function hasSecurityContact(root: string, project: Project): boolean;
