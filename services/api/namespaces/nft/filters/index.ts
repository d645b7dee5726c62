export { templateConditions } from './template-filters.ts'
export {
  OF_ANY_SCHEMA,
  MAX_SCHEMA_PAIRS,
  schemaKey,
  schemaConditions,
  schemaFilters,
  AUTHORIZED,
} from './schema-keys.ts'
export { resolveTemplates, TEMPLATE_DATA } from './resolve-templates.ts'
export type { ResolvedTemplates } from './resolve-templates.ts'
export { nameFilter } from './name-filter.ts'
export type { OfCollections } from './name-filter.ts'
