/** Caches that a measurement may switch off; the one of `cache_life` is configured. */
export type CacheName = 'fragments' | 'unchanged-answers'
