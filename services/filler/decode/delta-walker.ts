import type { CodeEmitter, TypeGraph } from '../../core/antelope/decoder/index.ts'
import type { FieldNode, StructNode, TypeNode } from '../../core/antelope/types/index.ts'
import { linkCode, PROLOGUE } from '../../core/antelope/decoder/index.ts'
import {
  elementOf,
  fieldOf,
  unusableProtocol,
  requireBuiltin,
  requireType,
  structsOf,
} from './protocol-shape.ts'
import type { DeltaSink, ScannedRow } from './scanned.ts'
import { assignBytes, assignWord, REFUSE_REST, walkFields, walkStructs } from './walker-code.ts'
import type { WatchSet } from './watch-set.ts'

/**
 * Walks the deltas payload from the current position of the decoder on. Every call of the sink gets the same `record`,
 * overwritten.
 */
export type DeltaWalker = (watch: WatchSet, sink: DeltaSink, record: ScannedRow) => void

/**
 * Generates the walk over `table_delta[]`. In contract rows the walk reads the code account (8 bytes) and skips rows of
 * unwatched contracts. The walk also opens the tables `account`, `account_metadata`, `permission` and
 * `permission_link`, and skips all other tables.
 * @throws FatalError `SHIP_PROTOCOL` if the protocol lacks a field that the walk needs.
 */
export function generateDeltaWalker(emitter: CodeEmitter, types: TypeGraph, deltas: TypeNode): DeltaWalker {
  const delta = elementOf(deltas, 'table deltas')
  const contractRow = requireType(types, 'contract_row')
  emitter.functions.push(
    rowFunction('openContractRow', openContractRow(emitter, contractRow)),
    rowFunction('openAccount', openAccount(emitter, requireType(types, 'account'))),
    rowFunction('openMetadata', openMetadata(emitter, requireType(types, 'account_metadata'))),
  )
  const body = walkStructs(emitter, delta, 'table_delta', (struct) => walkTable(emitter, struct, contractRow))
  const { minSize, work } = emitter.measures.of(delta)
  const main = `
    function main(W, S, C) {
      ${PROLOGUE}
      C.payload = b;
      R.at = p; const count = readCount(${minSize}, ${work}); p = R.at;
      for (let t = 0; t < count; t++) { ${body} }
      ${REFUSE_REST}
    }`
  const bindings = { tableKind: tableKindAt }
  return linkCode(`${emitter.functions.join('\n')}\n${main}\nreturn main;`, bindings) as DeltaWalker
}

const openedTables = ['contract_row', 'account', 'account_metadata', 'permission', 'permission_link'].map(
  (name) => Buffer.from(name),
)

// Returns 0 for a table that is skipped, otherwise 1 + the index of the table in `openedTables`.
function tableKindAt(bytes: Buffer, start: number, end: number): number {
  return 1 + openedTables.findIndex((name) => bytes.compare(name, 0, name.length, start, end) === 0)
}

// Returns a generated function that passes one row to the sink. Its caller sets the position and the end of the row.
function rowFunction(name: string, body: string): string {
  return `function ${name}(W, S, C, present) { ${PROLOGUE} ${body} }`
}

function walkTable(emitter: CodeEmitter, struct: StructNode, contractRow: TypeNode): string {
  requireBuiltin(struct, 'name', 'string')
  const rows = struct.fields[1]
  if (struct.fields[0]?.name !== 'name' || rows?.name !== 'rows' || struct.fields.length !== 2) {
    throw unusableProtocol(`struct ${struct.name} does not consist of the fields name and rows`)
  }
  const row = elementOf(rows.type, 'rows')
  requireRowShape(row)
  const { minSize, work } = emitter.measures.of(row)
  const loop = (visit: string): string => `
    R.at = p; const n = readCount(${minSize}, ${work}); p = R.at;
    for (let i = 0; i < n; i++) {
      if (p >= e) tooShort(p);
      const present = b[p++];
      let start = 0, end = 0; ${assignBytes('start', 'end')}
      ${visit}
    }`
  const open = (name: string): string =>
    `R.at = start; R.end = end; ${name}(W, S, C, present); R.at = end; R.end = e;`
  return `
    let nameStart = 0, nameEnd = 0; ${assignBytes('nameStart', 'nameEnd')}
    switch (tableKind(b, nameStart, nameEnd)) {
      case 1: { ${loop(`${codeAt(emitter, contractRow)} if (W.has(lo, hi)) { ${open('openContractRow')} }`)} break; }
      case 2: { ${loop(`if (S.account !== undefined && present !== 0) { ${open('openAccount')} }`)} break; }
      case 3: { ${loop(`if (S.accountMetadata !== undefined && present !== 0) { ${open('openMetadata')} }`)} break; }
      case 4: { ${loop(`if (S.permission !== undefined) { ${give('permission')} }`)} break; }
      case 5: { ${loop(`if (S.permissionLink !== undefined) { ${give('permissionLink')} }`)} break; }
      default: { ${loop('')} }
    }`
}

// Passes the row to the sink undecoded; the sink decodes it on demand.
function give(member: string): string {
  return `R.at = end; R.end = e; ${called(`S.${member}(present !== 0, b.subarray(start, end))`)}`
}

// `present` is a bool, or a number that distinguishes created from modified rows; one byte in both cases.
function requireRowShape(row: TypeNode): void {
  const struct = row.kind === 'struct' ? row : null
  if (
    struct?.fields.length !== 2 ||
    struct.fields[0]?.name !== 'present' ||
    struct.fields[1]?.name !== 'data'
  ) {
    throw unusableProtocol('the rows of a table delta do not consist of the fields present and data')
  }
  requireBuiltin(struct, 'present', 'bool', 'uint8')
  requireBuiltin(struct, 'data', 'bytes')
}

// Reads the code account at its fixed offset in the row data, so that a row of another contract costs one comparison.
function codeAt(emitter: CodeEmitter, contractRow: TypeNode): string {
  const cases = structsOf(contractRow, 'contract_row').map(({ index, struct }) => {
    requireBuiltin(struct, 'code', 'name')
    const before = struct.fields.slice(
      0,
      struct.fields.findIndex((field) => field.name === 'code'),
    )
    const sizes = before.map((field) => emitter.measures.of(field.type).fixedSize)
    if (sizes.includes(null)) throw unusableProtocol('the field code of a contract row has no fixed offset')
    const offset = sizes.reduce<number>((sum, size) => sum + size!, index === null ? 0 : 1)
    const read =
      `if (end - start < ${offset + 8}) tooShort(end); ` +
      `lo = v.getUint32(start + ${offset}, true); hi = v.getUint32(start + ${offset + 4}, true);`
    return index === null ? `default: ${read}` : `case ${index}: ${read} break;`
  })
  const unknown = cases[0]!.startsWith('case')
    ? "default: refuse('contract_row has no alternative ' + b[start], start);"
    : ''
  return `if (start >= end) tooShort(end); let lo = 0, hi = 0; switch (b[start]) { ${cases.join(' ')} ${unknown} }`
}

function openContractRow(emitter: CodeEmitter, contractRow: TypeNode): string {
  const word = (name: string) => () => assignWord(`C.${name}Lo`, `C.${name}Hi`)
  const body = walkStructs(emitter, contractRow, 'contract_row', (struct) => {
    for (const name of ['scope', 'table', 'payer']) requireBuiltin(struct, name, 'name')
    requireBuiltin(struct, 'primary_key', 'uint64')
    requireBuiltin(struct, 'value', 'bytes')
    return walkFields(emitter, struct, {
      code: word('code'),
      scope: word('scope'),
      table: word('table'),
      primary_key: word('primaryKey'),
      payer: word('payer'),
      value: () => assignBytes('C.valueStart', 'C.valueEnd'),
    })
  })
  return `C.present = present !== 0; ${body} ${REFUSE_REST} ${called('S.row(C)')}`
}

function openAccount(emitter: CodeEmitter, account: TypeNode): string {
  const body = walkStructs(emitter, account, 'account', (struct) => {
    requireBuiltin(struct, 'name', 'name')
    requireBuiltin(struct, 'abi', 'bytes')
    return walkFields(emitter, struct, {
      name: () => assignWord('lo', 'hi'),
      abi: () => assignBytes('start', 'end'),
    })
  })
  const call = called('S.account(nameOf(lo, hi), b.subarray(start, end))')
  return `let lo = 0, hi = 0, start = 0, end = 0; ${body} ${REFUSE_REST} ${call}`
}

function openMetadata(emitter: CodeEmitter, metadata: TypeNode): string {
  const body = walkStructs(emitter, metadata, 'account_metadata', (struct) => {
    requireBuiltin(struct, 'name', 'name')
    const code = fieldOf(struct, 'code')
    if (code?.type.kind !== 'optional')
      throw unusableProtocol('struct account_metadata has no optional field code')
    return walkFields(emitter, struct, {
      name: () => assignWord('lo', 'hi'),
      code: (field: FieldNode) =>
        `if (p >= e) tooShort(p); hasCode = b[p] !== 0; ${emitter.skip(field.type)}`,
    })
  })
  const call = called('S.accountMetadata(nameOf(lo, hi), hasCode)')
  return `let lo = 0, hi = 0, hasCode = false; ${body} ${REFUSE_REST} ${call}`
}

// Saves and restores the bytes and position that the decoder reads around a call of the sink, because the sink may
// decode other bytes.
function called(call: string): string {
  return `const paused = pauseReading(); ${call}; resumeReading(paused);`
}
