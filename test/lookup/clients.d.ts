/** Clients without types of their own, as far as they are called here. */
declare module "hunterio" {
  /** Whatever the status is, the body comes as a success. */
  type Done = (error: Error | null, body: unknown, response: { statusCode: number }) => void;
  type Query = Record<string, string | number | undefined>;
  export default class SDK {
    constructor(key: string);
    client: { host: string };
    domainSearch(query: Query, done: Done): void;
    emailFinder(query: Query, done: Done): void;
    emailVerifier(query: Query, done: Done): void;
    emailCount(query: Query, done: Done): void;
    account(query: Query, done: Done): void;
    listLeads(query: Query, done: Done): void;
  }
}

declare module "hunter.io" {
  /** Of a refusal, the error is the body. */
  type Done = (error: unknown, body?: unknown) => void;
  type Query = Record<string, string | number | undefined>;
  export default class EmailHunter {
    constructor(key: string);
    domainSearch(query: Query, done: Done): Promise<void>;
    emailFinder(query: Query, done: Done): Promise<void>;
    emailVerifier(email: string | Query, done: Done): Promise<void>;
    emailCount(domain: string | Query, done: Done): Promise<void>;
    account(done: Done): Promise<void>;
    leads: { list(query: Query, done: Done): Promise<void> };
  }
}
