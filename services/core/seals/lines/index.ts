export { SealedLines } from './sealed-lines.ts'
