export { documentationRoutes } from './routes.ts'
export type { ServerInfo } from './openapi.ts'
