export type { ServerInfo } from './openapi.ts'
export { documentationRoutes } from './routes.ts'
