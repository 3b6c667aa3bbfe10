declare module "email-providers" {
  /** Domains where anybody can have an address, lower case. */
  const domains: string[];
  export default domains;
}
