export { packHeader } from './pack-block.ts'
export { noAccountChanges, packDeltas } from './pack-deltas.ts'
export { writeTransactionTrace } from './pack-traces.ts'
export { packTransaction } from './pack-transaction.ts'

export type { ActivityKind, ActivityMix } from './planner.ts'
export { Producer } from './producer.ts'
export type { BlockContent, ProducerOptions } from './producer.ts'
export { Random } from './random.ts'
