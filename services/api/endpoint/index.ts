export * as shape from './record-schema.ts'
export { endpoint } from './endpoint.ts'
export type {
  Namespace,
  Endpoint,
  Failure,
  RecordKeys,
  RecordReader,
  EndpointContext,
  Run,
} from './endpoint.ts'
export type { RecordSchema, NamedSchema, Members } from './record-schema.ts'
