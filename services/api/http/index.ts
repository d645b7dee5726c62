export { failureBody, successBody } from './envelope.ts'
export { createLifecycle } from './lifecycle.ts'
export type { LifecycleParts } from './lifecycle.ts'
export type { Mount, RootRoute, RouteDocumentation, RouteParts } from './routes.ts'
