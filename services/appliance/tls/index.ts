export {
  certificateFiles,
  endOf,
  checkCertificateFiles,
  ensureSelfSigned,
  findPairFault,
  hasCertificates,
  isCertifiedName,
  isPrivateKey,
} from './certificate.ts'
export { keepCertificate } from './keep.ts'
