export type { AccountsContractOptions } from "./testing/accounts-contract.ts";
export { accountsContract } from "./testing/accounts-contract.ts";
export type {
  AdapterHarness,
  AdapterHost,
  AdapterHostOptions,
  HostParsing,
} from "./testing/adapter/scope.ts";
export { adapterContract } from "./testing/adapter-contract.ts";
export type { BlobStoreAbility, BlobStoreContractOptions } from "./testing/blob-store-contract.ts";
export { blobStoreContract } from "./testing/blob-store-contract.ts";
export type { ConformanceTest } from "./testing/conformance-test.ts";
export type { ContactData } from "./testing/contact-source/samples.ts";
export type { ContactSourceContractOptions } from "./testing/contact-source-contract.ts";
export { contactSourceContract } from "./testing/contact-source-contract.ts";
export type { DueIndexContractOptions } from "./testing/due-index-contract.ts";
export { dueIndexContract } from "./testing/due-index-contract.ts";
export type { JobQueueContractOptions } from "./testing/job-queue-contract.ts";
export { jobQueueContract } from "./testing/job-queue-contract.ts";
export type { LeaseStoreContractOptions } from "./testing/lease-store-contract.ts";
export { leaseStoreContract } from "./testing/lease-store-contract.ts";
export type { MailProberHarness, ProbedAddress } from "./testing/mail-prober-contract.ts";
export { mailProberContract } from "./testing/mail-prober-contract.ts";
export { pagesContract } from "./testing/pages-contract.ts";
export { rateLimiterContract } from "./testing/rate-limiter-contract.ts";
export { rendererContract } from "./testing/renderer-contract.ts";
export type { SuppressionListContractOptions } from "./testing/suppression-list-contract.ts";
export { suppressionListContract } from "./testing/suppression-list-contract.ts";
export type { VerificationQueueContractOptions } from "./testing/verification-queue-contract.ts";
export { verificationQueueContract } from "./testing/verification-queue-contract.ts";
