declare module "vcf" {
  /** A property of a card; its parameters are lower-case keys. */
  interface Property {
    type?: string | string[];
    pref?: string;
    encoding?: string;
    charset?: string;
    /** The value as written. Absent without a colon. A parameter may hide methods. */
    _data: string | undefined;
  }
  /** Properties by their names in camelCase. */
  export default class VCard {
    static readonly Property: abstract new () => Property;
    /** A property with the name of a method of objects, such as `CONSTRUCTOR`, comes with that method. */
    data: Record<string, Property | Property[]>;
    /** Parses a card whose lines end with CR LF and are unfolded. @throws Error without its begin, version or end. */
    parse(text: string): this;
  }
}
