import type { NamespaceConfig } from '../../core/config/schema/index.ts'

/** Largest `limit` of each list, by the keys of `args.limits`. */
export type PageLimits = NamespaceConfig['args']['limits']
