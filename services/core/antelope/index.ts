export { AbiError, DecodeError, EncodeError } from './codec-error.ts'

export { bigIntToName, nameFromString, nameToBigInt, nameToInt64, nameToString } from './values/name.ts'
export type { NameHalves } from './values/name.ts'
export { formatAsset, formatSymbol, parseAsset, parseSymbol } from './values/asset.ts'
export type { Asset } from './values/asset.ts'
export {
  epochMsToSlot,
  formatEpochMicroseconds,
  formatEpochMs,
  formatEpochSeconds,
  parseTimeMicroseconds,
  slotToEpochMs,
} from './values/time.ts'
export { decodeBase58, encodeBase58 } from './values/base58.ts'
export { bytesToHex, hexToBytes } from './values/hex.ts'
export { keyText, legacyKeyText, parseKeyText } from './values/key.ts'
export type { KeyKind } from './values/key.ts'
export { ripemd160 } from './values/ripemd160.ts'
export { normalizeAbiJson } from './abi/definition.ts'
export type {
  AbiAction,
  AbiAlias,
  AbiDefinition,
  AbiField,
  AbiStruct,
  AbiTable,
  AbiVariant,
} from './abi/definition.ts'
export { packAbi, parsePackedAbi } from './abi/packed.ts'
export { compileAbi } from './abi/compile.ts'
export type { CompiledAbi, DecodedStruct, Decoder, DecoderOptions, ValueEncoder } from './abi/compile.ts'
export type { JsonValue } from './abi/json-form.ts'
export { TypeGraph } from './abi/type-graph.ts'
export type {
  ArrayNode,
  BuiltinName,
  BuiltinNode,
  FieldNode,
  OptionalNode,
  StructNode,
  TypeNode,
  VariantNode,
} from './abi/type-node.ts'
export { CodeEmitter, prologue } from './abi/code-emitter.ts'
export { explainFailure } from './abi/explain.ts'
export { linkCode } from './abi/link.ts'
export { Measures } from './abi/measure.ts'
export type { Measure } from './abi/measure.ts'
export { beginReading, DecodeFailure } from './abi/read-state.ts'
export type { AttributeField, Attributes, AttributeScalar, AttributeValue } from './attributes/format.ts'
export { decodeAttributes } from './attributes/decode.ts'
export type { AttributeProblem, DecodedAttributes } from './attributes/decode.ts'
export { encodeAttributes } from './attributes/encode.ts'
export { attributeBytes, attributeMapToJson, encodeAttributeMap } from './attributes/map.ts'
export type { AttributePair, PairSpelling } from './attributes/map.ts'
export { attributesToJsonText } from './attributes/json-text.ts'
