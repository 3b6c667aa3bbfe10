/** Version of this package, equal to its package.json. */
export const VERSION = "0.1.0";
