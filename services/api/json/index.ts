export { jsonBytes, jsonSize, jsonString, jsonArray } from './json.ts'
export type { Json } from './json.ts'
export { historyMember, jsonMembers, jsonText, quoted, jsonData, jsonList } from './json-sql.ts'
export { dataMembers, joinDataMap, overlayDataMap, splitDataMap } from './data-maps.ts'
