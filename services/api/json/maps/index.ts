export { dataMembers, nameOf, joinDataMap, overlayDataMap, splitDataMap } from './data-maps.ts'
