export { ByteWriter } from './writer.ts'
export { ByteReader } from './reader.ts'
