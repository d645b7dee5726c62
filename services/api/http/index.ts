export type { Mount, RootRoute, RouteDocumentation } from './routes.ts'
export { createLifecycle, refuseUnknownPath } from './lifecycle.ts'
export { failureBody, successBody } from './endpoint-answers.ts'
export { createUpgradeHandler } from './upgrades.ts'
