export {
  choice,
  flag,
  ids,
  idsOrNull,
  int,
  named,
  names,
  text,
  texts,
  textOf,
  id,
  inPath,
  name,
  choices,
  decimal,
} from './kinds.ts'
export { listLimits } from './lists.ts'
