export { bodyLimits, BodyReader, describeBodyLimits, hasBody, mediaTypeOf } from './read-body.ts'
export {
  compress,
  COMPRESSION_THRESHOLD_BYTES,
  negotiateEncoding,
  createCompressionStep,
} from './compression.ts'
export type { Encoding } from './compression.ts'
export { writePieces } from './pieces.ts'
