export { jsonBytes, jsonSize, jsonString, jsonArray, jsonItemSizes, jsonPieces, LateJson } from './json.ts'
export type { Json } from './json.ts'
export { historyMember, jsonMembers, jsonText, quoted } from './json-sql.ts'
