export {
  dataMembers,
  findName,
  joinDataMap,
  jsonArray,
  jsonBytes,
  jsonItemSizes,
  jsonPieces,
  jsonSize,
  jsonString,
  LateJson,
  nameOf,
  overlayDataMap,
  splitDataMap,
} from './json.ts'
export type { Json } from './json.ts'
