import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { normalizeAbiJson, packAbi } from '../../core/antelope/abi/index.ts'
import { packageRoot } from '../../core/paths/index.ts'

/** Contract versions that generated blocks deploy. All others are part of the recordings. */
export type DeployedContract = 'market.v1.3.3' | 'market.v2' | 'tools'

const packed = new Map<DeployedContract, Buffer>()

/** The packed ABI of a contract. */
export function deployedAbi(contract: DeployedContract): Buffer {
  let abi = packed.get(contract)
  if (abi === undefined) {
    const file = join(packageRoot, 'services', 'devchain', 'abis', `${contract}.abi.json`)
    abi = Buffer.from(packAbi(normalizeAbiJson(JSON.parse(readFileSync(file, 'utf8')))))
    packed.set(contract, abi)
  }
  return abi
}

/** An empty WebAssembly module with the contract's name, so that the codes of two contracts have different hashes. */
export function deployedCode(contract: DeployedContract): Buffer {
  const header = Buffer.from([0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00])
  const name = Buffer.from(contract)
  // A custom section of WebAssembly: id 0, length of the section, length of its name, the name.
  return Buffer.concat([header, Buffer.from([0, name.length + 1, name.length]), name])
}
