export { DecodeError, AbiError, EncodeError } from './codec-error.ts'
export { bytesToHex, hexToBytes } from './hex.ts'
export { ByteSink, ByteSource } from './bytes.ts'
