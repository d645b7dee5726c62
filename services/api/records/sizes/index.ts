export {
  MAX_BYTES_AT_ONCE,
  MAX_ROWS_AT_ONCE,
  partsBySize,
  storedBytes,
  textsBytes,
  TooMuchAtOnce,
} from './stored-size.ts'
