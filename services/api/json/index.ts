export { jsonArray, jsonBytes, jsonString } from './json.ts'
export type { Json } from './json.ts'
