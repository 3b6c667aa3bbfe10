/** Of this package, as descriptions tell it. A test compares it with the manifest. */
export const VERSION = "0.1.0";
