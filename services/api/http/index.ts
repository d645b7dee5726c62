export type { Mount, RootRoute, RouteDocumentation } from './routes.ts'
export { createLifecycle, refuseUnknownPath } from './lifecycle.ts'
export { failureBody, successBody } from './exchange.ts'
export { createUpgradeHandler } from './upgrades.ts'
