export { createLogger, logLevels } from './logger.ts'
export type { LogDestination, LogLevel, Logger, LoggerOptions } from './logger.ts'
export { isSecretKey, redactSecrets, redactUrls, redactedText } from './redact.ts'
