export { ensureIssued } from './issue.ts'
export type { AcmeSettings } from './issue.ts'
export { keepCertificate } from './keep.ts'
