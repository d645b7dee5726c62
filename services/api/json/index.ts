export { jsonArray, jsonBytes, jsonIdentity, jsonString, KeptJson } from './json.ts'
export type { Json } from './json.ts'
