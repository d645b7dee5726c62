export { BITMAP_COST, HEAP_COST, INDEX_COST, NEIGHBOUR_COST } from './costs.ts'
