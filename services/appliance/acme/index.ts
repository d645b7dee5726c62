export type { AcmeSettings } from './issue.ts'
export { keepCertificate } from './keep.ts'
