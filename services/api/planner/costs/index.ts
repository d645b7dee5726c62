export { BITMAP_COST, HEAP_COST, INDEX_COST } from './costs.ts'
