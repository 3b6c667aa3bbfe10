export type { AccountsContractOptions } from "./accounts-contract.ts";
export { accountsContract } from "./accounts-contract.ts";
export type {
  AdapterHarness,
  AdapterHost,
  AdapterHostOptions,
  HostParsing,
} from "./adapter/scope.ts";
export { adapterContract } from "./adapter-contract.ts";
export type { BlobStoreAbility, BlobStoreContractOptions } from "./blob-store-contract.ts";
export { blobStoreContract } from "./blob-store-contract.ts";
export type { ConformanceTest } from "./conformance-test.ts";
export type { ContactData } from "./contact-source/samples.ts";
export type { ContactSourceContractOptions } from "./contact-source-contract.ts";
export { contactSourceContract } from "./contact-source-contract.ts";
export type { DueIndexContractOptions } from "./due-index-contract.ts";
export { dueIndexContract } from "./due-index-contract.ts";
export type { Admitting, FakeRenderer } from "./fake-renderer.ts";
export { acceptAll, cleanedTo, createFakeRenderer, PLAIN } from "./fake-renderer.ts";
export { createHeaderRenderer } from "./header-renderer.ts";
export type { LeaseStoreContractOptions } from "./lease-store-contract.ts";
export { leaseStoreContract } from "./lease-store-contract.ts";
export type { MailProberHarness, ProbedAddress } from "./mail-prober-contract.ts";
export { mailProberContract } from "./mail-prober-contract.ts";
export { pagesContract } from "./pages-contract.ts";
export { rateLimiterContract } from "./rate-limiter-contract.ts";
export { rendererContract } from "./renderer-contract.ts";
export type { SuppressionListContractOptions } from "./suppression-list-contract.ts";
export { suppressionListContract } from "./suppression-list-contract.ts";
