export {
  counting,
  createdOrUpdated,
  timeBounds,
  paging,
  sorting,
  sortOrder,
  idBoundaries,
  textBoundaries,
} from './parameters.ts'
export type { PageValues, CountValues, OrderValues, BoundaryValues } from './parameters.ts'
export { pageWindow, directionOf, pageLimits } from './paging.ts'
