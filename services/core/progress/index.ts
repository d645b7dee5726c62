export { TimeLeft } from './time-left.ts'
