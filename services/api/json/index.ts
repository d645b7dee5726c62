export { jsonBytes, jsonSize, jsonString, jsonArray, jsonItemSizes, jsonPieces, LateJson } from './json.ts'
export type { Json } from './json.ts'
