export { Complaint } from './parameter.ts'
export type { Form, Values, EndpointBase, Parameters, NamedLists, Schema, Parameter } from './parameter.ts'
export { valuesText, readParameters, without, pick } from './read-parameters.ts'
export { operationId, describeMembers, describeParameter } from './documents.ts'
export {
  text,
  choice,
  textOf,
  int,
  flag,
  id,
  ids,
  inPath,
  name,
  names,
  choices,
  decimal,
  idsOrNull,
  texts,
  named,
} from './kinds.ts'
