export const DEBIAN_PACKAGES: readonly string[];
