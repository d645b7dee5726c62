export type { ServerInfo } from './openapi.ts'
export { documentationRoutes } from './routes.ts'
export type { JsonObject, JsonValue } from './components.ts'
