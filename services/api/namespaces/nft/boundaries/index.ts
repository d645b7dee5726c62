export { idBoundaries, textBoundaries } from './parameters.ts'
export type { BoundaryValues } from './parameters.ts'
export { keyAtTime } from './key-at-time.ts'
export { boundaryFilters } from './boundary-filters.ts'
