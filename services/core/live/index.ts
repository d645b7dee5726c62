export { eventCatalogue, eventOfAction } from './catalogue.ts'
export type { EventEntry, EventFamily, EventEntity } from './catalogue.ts'
