import type { CodeEmitter } from '../../core/antelope/decoder/index.ts'
import type { FieldNode, StructNode, TypeNode } from '../../core/antelope/types/index.ts'
import { linkCode, PROLOGUE } from '../../core/antelope/decoder/index.ts'
import { nameFromString } from '../../core/antelope/index.ts'
import { elementOf, fieldOf, hasFields, unusableProtocol, requireBuiltin } from './protocol-shape.ts'
import type { ScannedAction, TraceSink } from './scanned.ts'
import { assignBytes, assignSmall, assignWord, REFUSE_REST, walkFields, walkStructs } from './walker-code.ts'
import type { FieldCode } from './walker-code.ts'
import type { WatchSet } from './watch-set.ts'

/**
 * Scope of a walk. `watched`: reports the actions of watched accounts, and reads as little as possible, because this
 * walk runs over the whole history of a chain. `everything`: reports all actions, with the billed resources of their
 * transactions.
 */
export type TraceScope = 'watched' | 'everything'

/**
 * Walks the traces payload from the current position of the decoder on. Every call of the sink gets the same `record`,
 * overwritten.
 */
export type TraceWalker = (watch: WatchSet, sink: TraceSink, record: ScannedAction) => void

const PERMISSION_LEVEL_BYTES = 16
const EXECUTED = 0

/**
 * Generates the walk over `transaction_trace[]`. The walk visits the actions of executed transactions, compares names
 * as raw halves, and skips everything else, such as the nested traces of failed deferred transactions. @throws
 * FatalError `SHIP_PROTOCOL` if the protocol lacks a field that the walk needs.
 */
export function generateTraceWalker(emitter: CodeEmitter, traces: TypeNode, scope: TraceScope): TraceWalker {
  const transaction = elementOf(traces, 'transactions')
  const body = walkStructs(emitter, transaction, 'transaction_trace', (struct) =>
    walkTransaction(emitter, struct, scope),
  )
  const { minSize, work } = emitter.measures.of(transaction)
  const main = `
    function main(W, S, C) {
      ${PROLOGUE}
      C.payload = b;
      R.at = p; const count = readCount(${minSize}, ${work}); p = R.at;
      for (let tx = 0; tx < count; tx++) { ${body} }
      ${REFUSE_REST}
    }`
  return linkCode(`${emitter.functions.join('\n')}\n${main}\nreturn main;`) as TraceWalker
}

function walkTransaction(emitter: CodeEmitter, struct: StructNode, scope: TraceScope): string {
  requireBuiltin(struct, 'id', 'checksum256')
  requireBuiltin(struct, 'status', 'uint8')
  requireBuiltin(struct, 'cpu_usage_us', 'uint32')
  requireBuiltin(struct, 'net_usage_words', 'varuint32')
  const position = (name: string): number => struct.fields.findIndex((field) => field.name === name)
  const before = ['id', 'status', 'cpu_usage_us', 'net_usage_words'].map(position)
  if (position('action_traces') < Math.max(...before)) {
    throw unusableProtocol(
      `struct ${struct.name} has no field action_traces after the fields of id, status and usage`,
    )
  }
  const isWhole = scope === 'everything'
  const usage: Record<string, FieldCode> = {
    cpu_usage_us: () => 'if (e - p < 4) tooShort(p); cpu = v.getUint32(p, true); p += 4;',
    net_usage_words: () => assignSmall('net'),
  }
  const takeUsage = isWhole ? 'C.cpuUsageUs = cpu; C.netUsageWords = net;' : ''
  return `let txid = 0, status = 0, cpu = 0, net = 0; ${walkFields(emitter, struct, {
    ...(isWhole ? usage : {}),
    id: () => 'if (e - p < 32) tooShort(p); txid = p; p += 32;',
    status: () => 'if (p >= e) tooShort(p); status = b[p++];',
    action_traces: (field) =>
      `if (status === ${EXECUTED}) { ${takeUsage} ${walkActions(emitter, field, scope)} } else { ${emitter.skip(field.type)} }`,
  })}`
}

function walkActions(emitter: CodeEmitter, field: FieldNode, scope: TraceScope): string {
  const action = elementOf(field.type, 'action traces')
  const { minSize, work } = emitter.measures.of(action)
  const body = walkStructs(emitter, action, 'action_trace', (struct) => walkAction(emitter, struct))
  // The code for one action is a function of its own, so that V8 optimizes it well.
  const name = emitter.fresh('walkAction')
  emitter.functions.push(`
    function ${name}(W, S, C, tx, txid) {
      ${PROLOGUE}
      let ordinal = 0, creator = 0, sequence = -1, rlo = 0, rhi = 0, alo = 0, ahi = 0, nlo = 0, nhi = 0;
      let auths = 0, auth = 0, start = 0, end = 0;
      ${body}
      R.at = p;
      if (rlo === alo && rhi === ahi && sequence >= 0 && ${scope === 'everything' ? 'true' : isWanted()}) { ${REPORT} }
    }`)
  return `R.at = p; const n = readCount(${minSize}, ${work});
    for (let i = 0; i < n; i++) ${name}(W, S, C, tx, txid);
    p = R.at;`
}

// Report every `setabi`: ABIs are stored for all accounts.
function isWanted(): string {
  const eosio = nameFromString('eosio')
  const setabi = nameFromString('setabi')
  const setsAbi = `alo === ${eosio.lo} && ahi === ${eosio.hi} && nlo === ${setabi.lo} && nhi === ${setabi.hi}`
  return `(W.has(alo, ahi) || (${setsAbi}))`
}

// Saves and restores the bytes and position that the decoder reads around a call of the sink, because the sink may
// decode other bytes.
const REPORT = `
  C.txIndex = tx; C.txIdOffset = txid; C.actionOrdinal = ordinal; C.creatorActionOrdinal = creator;
  C.globalSequenceLo = v.getUint32(sequence, true); C.globalSequenceHi = v.getUint32(sequence + 4, true);
  C.accountLo = alo; C.accountHi = ahi; C.nameLo = nlo; C.nameHi = nhi; C.dataStart = start; C.dataEnd = end;
  C.authorizationCount = auths; C.authorizationOffset = auth;
  const paused = pauseReading(); S.action(C); resumeReading(paused);`

function walkAction(emitter: CodeEmitter, struct: StructNode): string {
  requireBuiltin(struct, 'action_ordinal', 'varuint32')
  requireBuiltin(struct, 'creator_action_ordinal', 'varuint32')
  requireBuiltin(struct, 'receiver', 'name')
  if (!hasFields(struct, ['receipt', 'act']))
    throw unusableProtocol(`struct ${struct.name} lacks the field receipt or the field act`)
  return walkFields(emitter, struct, {
    action_ordinal: () => assignSmall('ordinal'),
    creator_action_ordinal: () => assignSmall('creator'),
    receiver: () => assignWord('rlo', 'rhi'),
    receipt: (field) => walkReceipt(emitter, field),
    act: (field) => walkAct(emitter, field),
  })
}

function walkReceipt(emitter: CodeEmitter, field: FieldNode): string {
  if (field.type.kind !== 'optional')
    throw unusableProtocol('the field receipt of an action trace is not optional')
  const body = walkStructs(emitter, field.type.inner, 'action_receipt', (struct) => {
    requireBuiltin(struct, 'global_sequence', 'uint64')
    return walkFields(emitter, struct, {
      global_sequence: () => 'if (e - p < 8) tooShort(p); sequence = p; p += 8;',
    })
  })
  return `if (p >= e) tooShort(p); if (b[p++] !== 0) { ${body} }`
}

function walkAct(emitter: CodeEmitter, field: FieldNode): string {
  return walkStructs(emitter, field.type, 'action', (struct) => {
    for (const name of ['account', 'name']) requireBuiltin(struct, name, 'name')
    requireBuiltin(struct, 'data', 'bytes')
    const authorization = fieldOf(struct, 'authorization')
    const level = authorization && elementOf(authorization.type, 'permission levels')
    if (level === undefined || emitter.measures.of(level).fixedSize !== PERMISSION_LEVEL_BYTES) {
      throw unusableProtocol(
        'the field authorization of an action is not a list of pairs of actor and permission',
      )
    }
    return walkFields(emitter, struct, {
      account: () => assignWord('alo', 'ahi'),
      name: () => assignWord('nlo', 'nhi'),
      authorization: () =>
        `${assignSmall('auths')} auth = p; ` +
        `if (auths * ${PERMISSION_LEVEL_BYTES} > e - p) tooShort(p); p += auths * ${PERMISSION_LEVEL_BYTES};`,
      data: () => assignBytes('start', 'end'),
    })
  })
}
