export { toolsConfig } from './config.ts'
export { keptLinkCount, linkQuery } from './link-list.ts'
export { selectLinkLogs } from './logs.ts'
