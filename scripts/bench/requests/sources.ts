/** A query for example values of some parameters. */
export interface Source {
  readonly keys: readonly string[]
  /** SQL that returns values, how frequent they are (`popular`, `typical` or `rare`), and a rank to sort by. */
  readonly query: string
  readonly missing: string
}

/** An account that does not exist. */
const MISSING_ACCOUNT = 'nobodyhere11'
const MISSING_ID = '1'

/** Creates a source of popular, typical and rare values: ranks the values by the number of rows that have the value. */
export function ranked(
  keys: readonly string[],
  value: string,
  from: string,
  missing = MISSING_ACCOUNT,
): Source {
  const counted = `(SELECT ${value} AS v, count(*) AS n FROM ${from} GROUP BY 1) k`
  return {
    keys,
    missing,
    query: `(SELECT k.v::text, 'popular', row_number() OVER (ORDER BY k.n DESC, k.v) FROM ${counted} ORDER BY k.n DESC, k.v LIMIT 2)
      UNION ALL (SELECT k.v::text, 'typical', 3 FROM ${counted} ORDER BY abs(k.n - (SELECT sum(n * n) / sum(n) / 3 FROM ${counted})), k.v LIMIT 2)
      UNION ALL (SELECT k.v::text, 'rare', 4 FROM ${counted} ORDER BY k.n, md5(k.v::text) LIMIT 2)`,
  }
}

/** Creates a source of three values: the percentiles 1, 50 and 99 of a column. */
export function spread(keys: readonly string[], value: string, from: string): Source {
  return {
    keys,
    missing: MISSING_ID,
    query: `SELECT v[k.place]::text, k.kind, k.place
      FROM (SELECT percentile_disc(ARRAY[0.01, 0.5, 0.99]) WITHIN GROUP (ORDER BY ${value}) AS v FROM ${from}) p,
        (VALUES ('popular', 1), ('typical', 2), ('rare', 3)) k(kind, place)`,
  }
}
