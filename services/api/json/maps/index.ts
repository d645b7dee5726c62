export { dataMembers, findName, nameOf, joinDataMap, overlayDataMap, splitDataMap } from './data-maps.ts'
