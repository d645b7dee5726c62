export { toolsConfig } from './config.ts'
export { selectLinkLogs } from './logs.ts'
