export { createLogger, logLevels } from './logger.ts'
export type { Logger, LogDestination, LogLevel } from './logger.ts'
export { redactSecrets, isSecretKey, redactUrls, REDACTED_TEXT } from './redact.ts'
