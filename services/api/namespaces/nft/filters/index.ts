export {
  templateConditions,
  OF_ANY_SCHEMA,
  MAX_SCHEMA_PAIRS,
  schemaKey,
  schemaConditions,
  schemaFilters,
  AUTHORIZED,
  resolveTemplates,
  TEMPLATE_DATA,
  nameFilter,
  boundaryFilters,
  keyAtTime,
} from './filters.ts'
export type { ResolvedTemplates, OfCollections } from './filters.ts'
