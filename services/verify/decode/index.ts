export { openRowDecoder } from './row-decoder.ts'
export type { RowDecoder } from './row-decoder.ts'
