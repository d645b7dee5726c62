export { describeMembers, describeParameter, operationId } from './documents.ts'
export {
  choice,
  choices,
  decimal,
  flag,
  id,
  ids,
  idsOrNull,
  inPath,
  int,
  name,
  named,
  names,
  text,
  textOf,
  texts,
} from './kinds.ts'
export { Complaint } from './parameter.ts'
export type { EndpointBase, Form, NamedLists, Parameter, Parameters, Schema, Values } from './parameter.ts'
export { pick, readParameters, valuesText, without } from './read-parameters.ts'
