export { createFailureAnswer, malformedRequestBody } from './failures.ts'
export { createRoutes } from './routes.ts'
export type { RootAnswer, RouteParts } from './routes.ts'
export { createTraceStep } from './trace.ts'
