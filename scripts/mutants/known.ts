/** A mutation that a test must detect. */
export interface Mutant {
  /** Behaviour of the program with the mutation. */
  readonly behaviour: string
  readonly file: string
  /** Text that occurs once in the file, and its replacement. */
  readonly from: string
  readonly to: string
  /** Files or folders of the tests that must detect the mutation. */
  readonly tests: readonly string[]
}

const oracle = ['services/filler/handlers/oracle', 'tests/integration/edge-values.test.ts']
const market = [
  'services/filler/handlers/market',
  'tests/integration/market-clock.test.ts',
  'tests/integration/market.test.ts',
]
const damages = ['tests/verify/missing-rows.test.ts', 'tests/verify/every-damage.test.ts']

/** Mutations that formerly passed all tests, with the tests that detect the mutations now. */
export const knownMutants: readonly Mutant[] = [
  {
    behaviour: 'an undone block stays in the list of blocks to which a fork can roll back',
    file: 'services/filler/store/store.ts',
    from: 'known.num < block)',
    to: 'known.num <= block)',
    tests: ['services/filler/store'],
  },
  {
    behaviour: 'blocks of EOSIO 2.1 and 2.2 are not linked by their header',
    file: 'services/filler/ship/linkage.ts',
    from: ' || sameId(parent, block, PREVIOUS_OFFSET + 1)',
    to: '',
    tests: ['services/filler/ship'],
  },
  {
    behaviour: 'among data points of the same time, the point with the lower id counts',
    file: 'services/filler/handlers/oracle/block.ts',
    from: 'point.id > best.id',
    to: 'point.id < best.id',
    tests: oracle,
  },
  {
    behaviour:
      'a royalty payout is attributed to a listing only if the settling action itself sent the royalty log',
    file: 'services/filler/handlers/market/royalties.ts',
    from: 'ordinal = this.#senders.get(ordinal) ?? 0',
    to: 'ordinal = 0',
    tests: market,
  },
  {
    behaviour: 'royalty payouts are attributed to a settlement in the previous transaction',
    file: 'services/filler/handlers/market/royalties.ts',
    from: 'this.#settlements.clear()',
    to: '',
    tests: market,
  },
  {
    behaviour: 'an auction whose end equals the time of a block ends only with the next block',
    file: 'services/filler/handlers/market/clock.ts',
    from: 'end_time <= $1::bigint / 1000',
    to: 'end_time < $1::bigint / 1000',
    tests: market,
  },
  {
    behaviour: 'an unknown asset does not make a buy offer invalid',
    file: 'services/filler/handlers/market/listing-values.ts',
    from: 'g(id) LEFT JOIN assets.assets a ON a.asset_id = g.id WHERE a.owner IS DISTINCT FROM b.seller',
    to: 'g(id) JOIN assets.assets a ON a.asset_id = g.id WHERE a.owner IS DISTINCT FROM b.seller',
    tests: market,
  },
  {
    behaviour: 'a list looks complete although its driving table has more rows than the row budget',
    file: 'services/api/planner/sources/driving-table.ts',
    from: '${by} LIMIT ${raw(most + 1)}',
    to: '${by} LIMIT ${raw(most)}',
    tests: ['services/api/planner', 'tests/api/plans.test.ts'],
  },
  {
    behaviour:
      'a list that is collected and sorted has rows with equal sort values always in ascending order of their keys',
    file: 'services/api/planner/statement.ts',
    from: "?? 'LAST')}, g.k ${raw(order.keys ?? 'ASC')}`",
    to: "?? 'LAST')}, g.k ASC`",
    tests: ['services/api/planner', 'tests/api/plans.test.ts', 'tests/api/entity-lists.test.ts'],
  },
  {
    behaviour: 'a long key of a cached answer is truncated instead of hashed',
    file: 'services/api/cache/answer-key.ts',
    from: "hash('sha256', text, 'base64')",
    to: 'text.slice(0, MAX_TEXT_LENGTH)',
    tests: ['services/api/cache', 'tests/api/cache.test.ts'],
  },
  {
    behaviour: 'an answer whose query began before the cache was cleared is cached',
    file: 'services/api/cache/answer-cache.ts',
    from: 'if (age !== this.#age) return false',
    to: '',
    tests: ['services/api/cache', 'tests/api/cache.test.ts'],
  },
  {
    behaviour: 'an answer that another process cached has no maximum lifetime',
    file: 'services/api/cache/answer-cache.ts',
    from: 'Math.min(lifeMs, this.#lifeMs(request))',
    to: 'lifeMs',
    tests: ['services/api/cache', 'tests/api/cache.test.ts'],
  },
  {
    behaviour: 'the cursor after a fork is one block too high',
    file: 'services/core/feed-reader/cursor.ts',
    from: 'entry.block_num - 1',
    to: 'entry.block_num',
    tests: ['services/core/feed-reader', 'tests/live/feed-forks.test.ts', 'tests/live/events.test.ts'],
  },
  {
    behaviour: 'API keys are used without time limit while the database is unavailable',
    file: 'services/state/access/key-ring.ts',
    from: 'this.#ageMs() >= this.#timing.usableMs',
    to: 'this.#ageMs() < 0',
    tests: ['services/state/access', 'tests/state/keys.test.ts'],
  },
  {
    behaviour: 'retired signing keys are deleted after 2 hours instead of 25',
    file: 'services/state/access/signing-keys.ts',
    from: "interval '25 hours'",
    to: "interval '2 hours'",
    tests: ['services/state/access', 'tests/state'],
  },
  {
    behaviour: 'HSTS is sent with a self-signed certificate',
    file: 'services/appliance/render/nginx.ts',
    from: "mode === 'selfsigned' || mode === 'off'",
    to: "mode === 'off'",
    tests: ['tests/appliance/render.test.ts', 'tests/appliance/proxy.test.ts'],
  },
  {
    behaviour: 'the rate limit counts the last proxy as the client',
    file: 'services/appliance/render/nginx.ts',
    from: 'real_ip_recursive on;',
    to: 'real_ip_recursive off;',
    tests: ['tests/appliance/render.test.ts', 'tests/appliance/proxy.test.ts'],
  },
  {
    behaviour: 'a count includes the asset whose id equals the upper bound',
    file: 'services/api/namespaces/assets/aggregates/asset-id-range.ts',
    from: 'a.asset_id < ${bind(upper',
    to: 'a.asset_id <= ${bind(upper',
    tests: ['tests/api/assets-namespace.test.ts'],
  },
  {
    behaviour: 'a count excludes the asset whose id equals the lower bound',
    file: 'services/api/namespaces/assets/aggregates/asset-id-range.ts',
    from: 'a.asset_id >= ${bind(lower',
    to: 'a.asset_id > ${bind(lower',
    tests: ['tests/api/assets-namespace.test.ts'],
  },
  {
    behaviour: 'an unknown mint number is shown as 0',
    file: 'services/api/namespaces/nft/records/assets.ts',
    from: 'a.minted_at_block <> 0 THEN',
    to: 'a.minted_at_block >= 0 THEN',
    tests: ['tests/api/totals.test.ts'],
  },
  {
    behaviour: 'the oldest of several schemas with the same name is shown',
    file: 'services/api/namespaces/assets/lists/schema-in-path.ts',
    from: 's.created_at_time DESC',
    to: 's.created_at_time ASC',
    tests: ['tests/api/asset-filters.test.ts'],
  },
  {
    behaviour: 'among sales with the same price, the earliest sale is shown as the cheapest',
    file: 'services/api/namespaces/market/lists/cheapest-sales.ts',
    from: 'x.price, x.sale_id DESC LIMIT 1',
    to: 'x.price, x.sale_id ASC LIMIT 1',
    tests: ['tests/api/market-lists.test.ts', 'tests/api/plans.test.ts'],
  },
  ...['childRules', 'idRules', 'assetsRules', 'marketRules', 'historyRules'].map((rules) => ({
    behaviour: `verify and imports do not recompute ${rules}`,
    file: 'services/core/derived/check.ts',
    from: `  ...${rules},\n`,
    to: '',
    tests: damages,
  })),
]
