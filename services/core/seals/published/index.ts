export {
  findKind,
  MOST_LINES,
  MOST_SEALS,
  partsStatement,
  sealsStatement,
  summaryStatement,
} from './statements.ts'
export type { JsonStatement, PublishedSeal, RangePart, RangeParts, SealSummary } from './statements.ts'
