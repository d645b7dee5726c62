/** Values that a chain's name stands for. A variable that is set itself wins over them. */
export type Preset = Readonly<
  Record<'CHAIN_NAME' | 'CHAIN_ID', string> &
    Partial<
      Record<'START_BLOCK' | 'ASSETS_ACCOUNT' | 'MARKET_ACCOUNT' | 'ORACLE_ACCOUNT' | 'TOOLS_ACCOUNT', string>
    >
>

/**
 * Public chains by the name that `CHAIN` takes. Start blocks stand where they are required; elsewhere reading starts
 * with the first block that the node has.
 */
export const presets: Readonly<Record<string, Preset>> = {
  'wax-mainnet': {
    CHAIN_NAME: 'wax-mainnet',
    CHAIN_ID: '1064487b3cd1a897ce03ae5b6a865651747e2e152090f99c1d19d44e01aea5a4',
    START_BLOCK: '64000000',
  },
  'wax-testnet': {
    CHAIN_NAME: 'wax-testnet',
    CHAIN_ID: 'f16b1833c747c43682f4386fca9cbb327929334a762755ebec17f6f23c9b8a12',
    START_BLOCK: '35795000',
  },
  'eos-mainnet': {
    CHAIN_NAME: 'eos-mainnet',
    CHAIN_ID: 'aca376f206b8fc25a6ed44dbdc66547c36c6c33e3a119ffbeaef943642f0e906',
  },
  'telos-mainnet': {
    CHAIN_NAME: 'telos-mainnet',
    CHAIN_ID: '4667b205c6838ef70ff7988f6e8257e8be0e1284a2f59699054a018f743b1d11',
  },
  'proton-mainnet': {
    CHAIN_NAME: 'proton-mainnet',
    CHAIN_ID: '384da888112027f0321850a169f737c33e53b388aad48b5adace4bab97f437e0',
  },
  jungle4: {
    CHAIN_NAME: 'jungle4',
    CHAIN_ID: '73e4385a2708e6d7048834fbc1079f2fabb17b3c125b146af438971e90716c4d',
  },
}

/** The bundled demo chain, as the service `devchain` serves it. */
export const demoPreset = {
  CHAIN_NAME: 'demo',
  CHAIN_HTTP: 'http://devchain:8888',
  CHAIN_SHIP: 'ws://devchain:8080',
  START_BLOCK: '0',
} as const
