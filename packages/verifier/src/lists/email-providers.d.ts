declare module "email-providers" {
  /** Domains where anyone can open a mailbox, in lower case. */
  const domains: string[];
  export default domains;
}
