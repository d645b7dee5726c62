/** A difference between the answers of Pronghorn and of the system that it replaces. */
export interface Difference {
  readonly where: string
  readonly what: string
  readonly why: string
  /** Entries of the corpus that differ for this reason. */
  readonly entries?: readonly string[]
}

/**
 * What differs on purpose. `docs/compatibility.md` is made from this list, and `npm run conformance` accepts no other
 * difference from the recorded answers.
 */
export const differences: readonly Difference[] = [
  {
    where: '`/health`',
    what:
      'answers 503 when the database is unavailable, no reader has written, or a reader is 180 blocks or more behind; adds ' +
      '`data.chain.service` and `data.chain.demo`',
    why: 'a load balancer can use the status; the old keys are as they were',
  },
  {
    where: '`PUT`, `PATCH` and `DELETE`',
    what: '405 with `Allow`',
    why: 'nothing can be written; the replaced system answers them as `GET`',
  },
  {
    where: '`/v1/accounts/:account`, `/v1/burns/:account`',
    what: '400 when an account has more than 20,000 groups of collection, schema and template',
    why: 'the answer would have no bound; `collection_whitelist` narrows it',
  },
  {
    where: '`backed_tokens[].amount`',
    what: 'a number up to 2^53-1, a decimal string above',
    why: 'a larger number would be wrong',
  },
  {
    where: '`int8[]` attributes of assets',
    what: 'arrays of signed numbers',
    why: 'the replaced system gives an object of unsigned bytes',
  },
  { where: 'text with U+0000', what: 'a space in its place', why: "the database's text cannot hold it" },
  {
    where: '`template_mint`',
    what: 'there as soon as the asset is',
    why: 'no wait for irreversibility; a fork takes it back',
  },
  {
    where: '`mutable_data` filters of assets',
    what: 'every asset whose own mutable data has the value, whatever other layers hold under the same key',
    why:
      'the replaced system leaves out assets whose immutable data has another value, and the answer that the corpus ' +
      'calls right leaves out one whose template has another value: asset 1099511627781, with 255 in its mutable data',
    entries: ['assets-0154'],
  },
  {
    where: 'socket.io',
    what:
      'polling too, `{path}/v1/transfers` and `{path}/v1/template_buyoffers`; buy offers are published; `fork` once for each ' +
      'namespace; events in the order of the chain; `notice` before the server ends a connection',
    why: 'the replaced system refuses polling, loses the events of buy offers, says `fork` twice and mixes the order',
  },
  {
    where: '`template_mint` in events',
    what: 'there at once',
    why: 'the replaced system numbers assets later',
  },
  {
    where: '`bid` in `new_bid`',
    what: 'the bid of the action: its number, its amount without leading zeros',
    why: 'the replaced system looks for the amount and does not find one below 1',
  },
  {
    where: '`transaction.traces` in events',
    what: 'only the trace of the event where the traces would exceed 4 MB in a block',
    why: 'one large transaction would be sent to every client thousands of times',
  },
  {
    where: '`assets` of links',
    what: 'an asset that is not known is an object with its id and every other key null',
    why: 'the replaced system gives the id alone, which typed clients cannot read',
  },
  {
    where: '`claimer_signature` in the logs of links',
    what: 'the signature',
    why: 'the replaced system gives the id of the link',
  },
  {
    where: '`collection_whitelist` of links',
    what: 'a link with an asset that is not known is left out',
    why: 'the replaced system lets it pass, whatever collection the asset is of',
  },
  {
    where: '`/v0/sales`, `/v1/sales`, `/v2/sales`',
    what:
      'one list: every filter and sort works on all paths; the newer ones show cancelled sales only when `state` asks ' +
      'for them; one asset of a bundle has to match all conditions on assets, `template_blacklist` and ' +
      '`hide_templates_by_accounts` by none of them; a page is never short',
    why: 'the two engines of the replaced system disagree, and the newer one answers from a copy that lags',
  },
  {
    where: '`match`, `search`, `match_immutable_name` and `match_mutable_name` of sales',
    what: 'found in the name of any of the assets, as shown: that of the template or, without one, their own',
    why: 'the newest of the three lists of the replaced system searches these names, and the lists are one',
  },
  {
    where: '`data` filters of sales',
    what:
      'compare with template data, as for auctions and buy offers: a number has to be typed, as in `data:number.level=4`, and ' +
      'the data of assets is found by `immutable_data` and `mutable_data`',
    why: 'the two engines of the replaced system disagree; the newer one compares merged data of any layer as text',
  },
  {
    where:
      '`template_blacklist` and `hide_templates_by_accounts` of auctions, buy offers and template buy offers',
    what:
      'leave out listings with an asset of these templates, or of a template of which one of the accounts owns an asset, as ' +
      'for sales',
    why:
      'the replaced system takes both and ignores them for buy offers, and keeps auctions that contain any asset of another ' +
      'template as well',
  },
  {
    where: '`claimer` of unclaimed links, `template_id` of groups without a template',
    what: 'null, as before',
    why: 'these are the recorded shapes; one typed client refuses null there and needs its types widened',
  },
  {
    where: 'live event `sale_created`',
    what: 'carries no record while the sale waits for its offer; its id is there',
    why: 'a sale without an offer has no record over REST either; `sale_started` carries it',
  },
  {
    where: 'prices of sales that an oracle prices',
    what: 'the newest median of the block, whole units, rounded down',
    why: 'that is what the contract charges; the replaced system rounds, takes any data point of a block, and sorts by an older one',
  },
  {
    where: 'suggested prices',
    what: 'of one token each; in every answer where they stand',
    why: 'the replaced system mixes the tokens of a template; this entry has the mixed numbers without the rule that allows right ones',
    entries: ['market-0328'],
  },
  {
    where: '`/v1/assets` of the market, sorted by price',
    what: 'by the price in the token that the contract names first; each asset once',
    why: 'the replaced system compares amounts of different tokens and repeats assets',
  },
  {
    where: '`/v1/stats/schemas/:collection_name`',
    what: 'a bundle counts once, `listings` too; `volume` is never null; pages',
    why: 'clients decode strictly; the documents promise pages',
  },
  {
    where: 'statistics without a token, or with an unknown one',
    what: '400 `Invalid value for parameter symbol`; an unknown collection is 416',
    why: 'the replaced system says 500',
  },
  {
    where: '`/v1/assets/:asset_id/sales`',
    what: 'every completed trade, template buy offers included, no running auctions; `limit` and `bundles` count',
    why: 'clients decode `buyer` as a text',
  },
]
