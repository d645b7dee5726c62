export { readLimitedText } from './limited-text.ts'
