/** Version of this package, for descriptions. A test compares it with the manifest. */
export const VERSION = "0.1.0";
