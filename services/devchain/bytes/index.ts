export { ByteReader } from './reader.ts'
export { ByteWriter } from './writer.ts'
