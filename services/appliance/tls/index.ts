export {
  certificateFiles,
  endOf,
  checkCertificateFiles,
  ensureSelfSigned,
  findPairFault,
  hasCertificates,
  isPrivateKey,
} from './certificate.ts'
export { keepCertificate } from './keep.ts'
