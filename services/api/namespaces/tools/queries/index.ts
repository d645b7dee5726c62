export { toolsConfig } from './config.ts'
