export { Complaint } from './parameter.ts'
export type { Form, Values, EndpointBase, Parameters, NamedLists, Parameter, Schema } from './parameter.ts'
export { valuesText, readParameters, without, pick } from './read-parameters.ts'
export { operationId, describeMembers, describeParameter } from './documents.ts'
