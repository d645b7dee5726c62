export { merkleRoot, writeDigest } from './merkle.ts'
