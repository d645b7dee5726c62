import type { ErrorEntry } from './entry.ts'

/** Errors about the chain node and its data. */
export const chainErrors = {
  DECODE_FAILED: {
    meaning: 'Bytes from the chain do not fit the ABI that describes them.',
    remedy: {
      standalone:
        'The message names the position of the byte that cannot be decoded. Start again with `npm start` and the same options. If the error repeats at the same position, report the message with the block number.',
      appliance:
        'The message names the position of the byte that cannot be decoded. Start the containers again with `docker compose up -d --wait`. If the error repeats at the same position, report the message with the block number.',
      process:
        'The message names the position of the byte that cannot be decoded. Start the same command again. If the error repeats at the same position, report the message with the block number.',
    },
  },
  ENCODE_FAILED: {
    meaning: 'A value cannot be packed, because it does not fit its type.',
    remedy: 'Give the field a value of the type that the message names.',
  },
  ABI_INVALID: {
    meaning: 'An ABI is malformed, refers to types that it does not define, or exceeds a limit.',
    remedy:
      'The contract account published this ABI, so only its owner can correct it. Report the message if chain nodes can decode data with this ABI.',
  },
  CONTRACT_ABI_MISSING: {
    meaning:
      'A block needs the ABI of a contract, but neither an earlier block nor the chain node has supplied this ABI.',
    remedy: {
      standalone:
        "Check that the node's HTTP API ({http}) is complete (chain_api_plugin), or start below the block of the contract's setabi action: `npm start -- --start-block NUMBER`.",
      appliance:
        "Check that the node's HTTP API ({http}) is complete (chain_api_plugin), or start below the block of the contract's setabi action: set START_BLOCK in `.env`, then run `docker compose up -d --wait`.",
      process:
        "Check that the node's HTTP API ({http}) is complete (chain_api_plugin), or start below the block of the contract's setabi action: set `start_block` of the reader.",
    },
  },
  CHAIN_UNREACHABLE: {
    meaning:
      'The HTTP API of the chain node does not answer, answers with an error, or is not the HTTP API of a chain node.',
    remedy: {
      standalone:
        'Check {http}: the value must be the address of the HTTP API of a node (chain_api_plugin), for example http://127.0.0.1:8888.',
      appliance:
        'Check {http}: the value must be the address of the HTTP API of a node (chain_api_plugin) that containers can reach.',
      process: 'Check {http}: the value must be the address of the HTTP API of a node (chain_api_plugin).',
    },
  },
  CHAIN_NODE_REFUSED: {
    meaning: 'Nothing listens at the address of the chain node, or a firewall rejects the connection.',
    remedy: {
      standalone: 'Check the address ({nodes}). The node must run and listen on this address.',
      appliance:
        'Check the address ({nodes}). The node must run and listen on this address. In a container, 127.0.0.1 is the container itself, so use the name or address of the machine.',
      process: 'Check the address ({nodes}). The node must run and listen on this address.',
    },
  },
  NODE_API_INCOMPLETE: {
    meaning: 'The HTTP API of the chain node lacks an endpoint (404): a plugin is not enabled.',
    remedy: {
      standalone:
        'Enable the plugin of the endpoint in the config.ini of the node (`plugin = eosio::chain_api_plugin` for /v1/chain), or use another node ({http}).',
      appliance:
        'Enable the plugin of the endpoint in the config.ini of the node (`plugin = eosio::chain_api_plugin` for /v1/chain), or use another node ({http}).',
      process:
        'Enable the plugin of the endpoint in the config.ini of the node (`plugin = eosio::chain_api_plugin` for /v1/chain), or use another node ({http}).',
    },
  },
  ADDRESSES_SWAPPED: {
    meaning: 'The addresses of the HTTP API and of the state-history socket of the chain node are swapped.',
    remedy: {
      standalone: 'Are `--ship` and `--http` swapped? `--ship` takes ws://, `--http` takes http://.',
      appliance:
        'Are CHAIN_SHIP and CHAIN_HTTP in `.env` swapped? CHAIN_SHIP is ws://, CHAIN_HTTP is http://.',
      process: 'Are `chain.ship` and `chain.http` swapped? `chain.ship` is ws://, `chain.http` is http://.',
    },
  },
  CHAIN_MISMATCH: {
    meaning: 'The database, the chain node and the configuration do not all belong to the same chain.',
    remedy: {
      standalone: 'Use another `--data` directory, or a node of {held}.',
      appliance:
        'Set {nodes} to a node of the required chain ({held}). If the configuration names the wrong chain, correct CHAIN or CHAIN_ID; if the database is the wrong one, name another database (POSTGRES_DATABASE). To give up the data and the secrets instead, run `docker compose --profile "*" down --volumes`, then run `docker compose up -d --wait`.',
      process:
        'Set {nodes} to a node of the required chain ({held}). If the configuration names the wrong chain, correct `chain.chain_id`; if the database is the wrong one, name another database (`sqldb.database`, POSTGRES_DATABASE).',
    },
  },
  ADDRESSES_DIFFER: {
    meaning: 'The HTTP API and the state-history socket belong to different chains.',
    remedy: {
      standalone: 'Give `--ship` and `--http` the addresses of one node, or of nodes of one chain.',
      appliance:
        'Give CHAIN_SHIP and CHAIN_HTTP in `.env` the addresses of one node, or of nodes of one chain; then run `docker compose up -d --wait`.',
      process: 'Give `chain.ship` and `chain.http` the addresses of one node, or of nodes of one chain.',
    },
  },
  CHAIN_NODE_TOO_OLD: {
    meaning: 'The version of the chain node is too old: its HTTP API lacks a required feature.',
    remedy: {
      standalone: 'Use a node of EOSIO 2.0 or later, or of Leap or Spring ({http}).',
      appliance: 'Use a node of EOSIO 2.0 or later, or of Leap or Spring ({http}).',
      process: 'Use a node of EOSIO 2.0 or later, or of Leap or Spring ({http}).',
    },
  },
  CHAIN_TABLE_TOO_LARGE: {
    meaning:
      'A contract table on the chain has more rows than this program reads from a node, so no row was read.',
    remedy:
      'Check the account that the message names. The table of an oracle or market contract is smaller, so the account is probably another contract.',
  },

  // Errors of the connection to a state-history node
  SHIP_UNREACHABLE: {
    meaning: 'No state-history node answers at the given address.',
    remedy: {
      standalone:
        'Check `--ship`, and that the node runs with `plugin = eosio::state_history_plugin` and a `state-history-endpoint` that this machine can reach.',
      appliance:
        'Check CHAIN_SHIP in `.env`, and that the node runs with `plugin = eosio::state_history_plugin` and a `state-history-endpoint` that a container can reach.',
      process:
        'Check `chain.ship`, and that the node runs with `plugin = eosio::state_history_plugin` and a `state-history-endpoint` that this machine can reach.',
    },
  },
  SHIP_CONNECTION_LOST: {
    meaning: 'The connection to the state-history node ended or went silent.',
    remedy:
      'No action is needed: the reader connects again. If the error repeats, check the log of the node, and the network between the reader and the node.',
  },
  SHIP_FORK_MISSED: {
    meaning: 'The node sent a block whose parent the reader does not have, and did not send that parent.',
    remedy:
      'No action is needed: the reader requests the blocks again, and then undoes its last block. If the error repeats at the same block, the log of the node is damaged: use another node.',
  },
  SHIP_PROTOCOL: {
    meaning: 'The state-history node sent data that violate the protocol.',
    remedy: {
      standalone:
        'Check that `--ship` is the state-history address of the node, not its HTTP or p2p address. If the address is right, check the version of the node and any proxy in front of the node, or use another node.',
      appliance:
        'Check that CHAIN_SHIP in `.env` is the state-history address of the node, not its HTTP or p2p address. If the address is right, check the version of the node and any proxy in front of the node, or use another node.',
      process:
        'Check that `chain.ship` is the state-history address of the node, not its HTTP or p2p address. If the address is right, check the version of the node and any proxy in front of the node, or use another node.',
    },
  },
  SHIP_BLOCK_UNREADABLE: {
    meaning: "The state-history node's message for a block cannot be read, or lacks parts of the block.",
    remedy: {
      standalone:
        'Every earlier block is committed. Use another node (`--ship`, `--http`). To leave out this block only, start with the same `--data` directory and `--start-block {start}` (on a known chain also `--start-block-override`); `/health` then names the gap.',
      appliance:
        'Every earlier block is committed. Use another node (CHAIN_SHIP in `.env`). To leave out this block only, set START_BLOCK={start} and START_BLOCK_OVERRIDE=true in `.env`, then run `docker compose up -d --wait`; `/health` then names the gap.',
      process:
        'Every earlier block is committed. Use another node (`chain.ship`). To leave out this block only, set `start_block` to {start} and `start_block_override` to true, and start the filler again; `/health` then names the gap.',
    },
  },
  SHIP_MESSAGE_TOO_LARGE: {
    meaning: 'One message of the state-history node is larger than this program can receive.',
    remedy: {
      standalone:
        'The first block after a snapshot contains the whole chain state. Start above this block with `--start-block {start}` and the same `--data` directory, if any (on a known chain also `--start-block-override`). The block will be missing.',
      appliance:
        'The first block after a snapshot contains the whole chain state. To start above this block, set START_BLOCK={start} and START_BLOCK_OVERRIDE=true in `.env`, then run `docker compose up -d --wait`. The block will be missing.',
      process:
        'The first block after a snapshot contains the whole chain state. To start above this block, set `start_block` to {start} and `start_block_override` to true; the block will be missing. To receive this block, raise `ship_max_message_bytes`.',
    },
  },
  SHIP_RANGE_UNAVAILABLE: {
    meaning: 'The state-history logs of the node lack a block that the reader needs.',
    remedy: {
      standalone:
        'Use a node with the full history, or start at the first block of this node with `--start-block {start}` (on a known chain also `--start-block-override`). Earlier blocks will be missing.',
      appliance:
        'Use a node with the full history (CHAIN_SHIP in `.env`), or start at the first block of this node: set START_BLOCK={start} and START_BLOCK_OVERRIDE=true in `.env`, then run `docker compose up -d --wait`. Earlier blocks will be missing.',
      process:
        'Use a node with the full history (`chain.ship`), or start at the first block of this node: set `start_block` to {start} and `start_block_override` to true. Earlier blocks will be missing.',
    },
  },
  SHIP_LOG_DISABLED: {
    meaning: 'A state-history log of the node is disabled, so the node sends no traces or no chain state.',
    remedy:
      'Start the node with `trace-history = true` and `chain-state-history = true` in its config.ini. To add the blocks from before this change to the logs, replay the node, or start it from a snapshot that is older than these blocks.',
  },
  SHIP_BLOCK_INVALID: {
    meaning:
      'The content or the parent of a block does not match the block id: the log of the node is damaged, or the node forges blocks.',
    remedy: {
      standalone:
        'Nothing of the block was written. Use another node (`--ship`, `--http`); repair or replace the node that the message names. To leave out this block only, start with the same `--data` directory and `--start-block {start}` (on a known chain also `--start-block-override`); `/health` then names the gap.',
      appliance:
        'Nothing of the block was written. Use another node, or several nodes (CHAIN_SHIP in `.env`, comma-separated): the reader then leaves out a bad node. Repair or replace the node that the message names. To leave out this block only, set START_BLOCK={start} and START_BLOCK_OVERRIDE=true in `.env`, then run `docker compose up -d --wait`. If every node of the chain is refused for a Merkle root, set READER_SHIP_CHECK_ROOTS=false.',
      process:
        'Nothing of the block was written. Use another node, or several nodes (`chain.ship`): the reader then leaves out a bad node. Repair or replace the node that the message names. To leave out this block only, set `start_block` to {start} and `start_block_override` to true. If every node of the chain is refused for a Merkle root, set `ship_check_roots` to false.',
    },
  },
  SHIP_RANGE_MISSING: {
    meaning: 'The node skips blocks that its logs should contain, even after a reconnect.',
    remedy: {
      standalone:
        'Use another node (`--ship`, `--http`). To leave out the blocks that the message names instead, start with the same `--data` directory and `--start-block {start}` (on a known chain also `--start-block-override`).',
      appliance:
        'Use another node (CHAIN_SHIP in `.env`). To leave out the blocks that the message names instead, set START_BLOCK={start} and START_BLOCK_OVERRIDE=true in `.env`, then run `docker compose up -d --wait`.',
      process:
        'Use another node (`chain.ship`). To leave out the blocks that the message names instead, set `start_block` to {start} and `start_block_override` to true.',
    },
  },
  FORK_BELOW_IRREVERSIBLE: {
    meaning: 'The node reports a fork below a block that it had reported as irreversible.',
    remedy: {
      standalone:
        'The node changed its history or is of another chain, and the database is unchanged. Use a healthy node (`--ship`, `--http`).',
      appliance:
        'The node changed its history or is of another chain, and the database is unchanged. Use a healthy node (CHAIN_SHIP, CHAIN_HTTP in `.env`).',
      process:
        'The node changed its history or is of another chain, and the database is unchanged. Use a healthy node (`chain.ship`, `chain.http`).',
    },
  },
} as const satisfies Record<string, ErrorEntry>
