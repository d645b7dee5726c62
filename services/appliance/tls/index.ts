export { certificateFiles, endOf, checkCertificateFiles, ensureSelfSigned } from './certificate.ts'
export { keepCertificate } from './keep.ts'
