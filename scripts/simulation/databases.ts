import { inflateRawSync } from 'node:zlib'
import type pg from 'pg'
import { connectDatabase, migrate } from '../../services/core/database/index.ts'
import type { DatabaseAddress } from '../../services/core/database/index.ts'
import { decodeFeedEntry } from '../../services/core/feed/index.ts'
import type { FeedRow } from './feed-rules.ts'
import { refusalClasses } from './refusals.ts'
import type { ReaderCount } from './readers.ts'

/** Name of the database that holds the base of all chains, as so many readers leave it. */
const baseOf = (readers: ReaderCount): string => `simulation_base_${readers}`

/** Where the database can be made to refuse a statement. */
export const refusalPlaces = ['position', 'commit', 'rows', 'lease', 'rollback'] as const

export type RefusalPlace = (typeof refusalPlaces)[number]

/** Number of the advisory lock that holds a rollback. */
const TRAP = 1_001

/**
 * Triggers that refuse as often as a row says. The count is a sequence, because what a refused transaction writes is
 * undone with it.
 */
const REFUSALS = `
  CREATE SCHEMA simulation;
  CREATE SEQUENCE simulation.asked;
  ${refusalClasses.map((name) => `CREATE SEQUENCE simulation."refused ${name}"`).join(';')};
  CREATE TABLE simulation.refusals (place text PRIMARY KEY, state text NOT NULL, message text NOT NULL, last bigint NOT NULL);
  CREATE TABLE simulation.traps (loses_lock text, holds_rollback boolean NOT NULL);
  INSERT INTO simulation.traps VALUES (NULL, false);
  CREATE FUNCTION simulation.lose_lock() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    UPDATE simulation.traps SET loses_lock = NULL WHERE loses_lock = NEW.name;
    IF FOUND THEN PERFORM pg_advisory_unlock_all(); END IF;
    RETURN NEW;
  END $$;
  CREATE FUNCTION simulation.hold() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF (SELECT holds_rollback FROM simulation.traps) THEN PERFORM pg_advisory_xact_lock(${TRAP}); END IF;
    RETURN OLD;
  END $$;
  CREATE FUNCTION simulation.refuse() RETURNS trigger LANGUAGE plpgsql AS $$
  DECLARE refusal simulation.refusals;
  BEGIN
    SELECT * INTO refusal FROM simulation.refusals WHERE place = TG_ARGV[0];
    IF FOUND AND nextval('simulation.asked') <= refusal.last THEN
      PERFORM nextval(format('simulation.%I', 'refused ' || left(refusal.state, 2)));
      RAISE EXCEPTION USING ERRCODE = refusal.state, MESSAGE = refusal.message;
    END IF;
    RETURN CASE WHEN TG_OP = 'DELETE' THEN OLD ELSE NEW END;
  END $$;
  CREATE TRIGGER refuse BEFORE UPDATE ON chain.readers FOR EACH ROW EXECUTE FUNCTION simulation.refuse('position');
  CREATE TRIGGER lose_lock BEFORE UPDATE ON chain.readers FOR EACH ROW EXECUTE FUNCTION simulation.lose_lock();
  CREATE TRIGGER hold BEFORE DELETE ON chain.reversible_blocks FOR EACH STATEMENT EXECUTE FUNCTION simulation.hold();
  CREATE CONSTRAINT TRIGGER refuse_commit AFTER UPDATE ON chain.readers DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION simulation.refuse('commit');
  CREATE TRIGGER refuse BEFORE INSERT OR UPDATE OR DELETE ON assets.assets
    FOR EACH STATEMENT EXECUTE FUNCTION simulation.refuse('rows');
  CREATE TRIGGER refuse BEFORE UPDATE ON chain.leases FOR EACH ROW EXECUTE FUNCTION simulation.refuse('lease');
  CREATE TRIGGER refuse BEFORE DELETE ON chain.reversible_blocks
    FOR EACH STATEMENT EXECUTE FUNCTION simulation.refuse('rollback');`

/** Makes the database that those with so many readers are copied from; `fill` indexes the base of the chains into it. */
export async function createBaseDatabase(
  admin: pg.Pool,
  server: DatabaseAddress,
  readers: ReaderCount,
  fill: (address: DatabaseAddress) => Promise<void>,
): Promise<void> {
  const name = baseOf(readers)
  await admin.query(`CREATE DATABASE ${name}`)
  const address = { ...server, database: name }
  const base = await connectDatabase(address, { applicationName: 'simulation' })
  await migrate(base)
  await base.query(REFUSALS)
  await fill(address)
  await base.query('VACUUM ANALYZE')
  await base.end()
}

/** The last block that a reader committed. */
export interface CommittedPosition {
  readonly num: number
  /** Hexadecimal. */
  readonly id: string
  /** The newest block that it cannot go back below. */
  readonly floor: number
}

/** The right to write for a reader, as the database has it. */
export interface Lease {
  readonly fence: bigint
  readonly isLocked: boolean
}

/** The database of one seed, with a connection that its filler knows nothing of. */
export class SimulatedDatabase {
  readonly address: DatabaseAddress
  readonly #admin: pg.Pool
  readonly #client: pg.Client

  private constructor(admin: pg.Pool, address: DatabaseAddress, client: pg.Client) {
    this.#admin = admin
    this.address = address
    this.#client = client
  }

  /** Copies the base; `admin` is connected to another database of the server. */
  static async create(
    admin: pg.Pool,
    { server, name, readers }: { server: DatabaseAddress; name: string; readers: ReaderCount },
  ): Promise<SimulatedDatabase> {
    await admin.query(`CREATE DATABASE ${name} TEMPLATE ${baseOf(readers)}`)
    const address = { ...server, database: name }
    const client = await connectDatabase(address, { applicationName: 'simulation' })
    return new SimulatedDatabase(admin, address, client)
  }

  async drop(): Promise<void> {
    await this.#client.end()
    await this.#admin.query(`DROP DATABASE ${this.address.database} WITH (FORCE)`)
  }

  async position(reader: string): Promise<CommittedPosition> {
    const { rows } = await this.#client.query<{ num: number; id: Buffer; floor: number }>({
      name: 'position',
      text: `SELECT block_num AS num, block_id AS id,
          (SELECT min(b.block_num) FROM chain.reversible_blocks b WHERE b.reader = r.name) AS floor
        FROM chain.readers r WHERE r.name = $1`,
      values: [reader],
    })
    const { num, id, floor } = rows[0]!
    return { num, id: id.toString('hex'), floor }
  }

  /** The feed that a reader publishes to live clients, in order. */
  async feed(reader: string): Promise<FeedRow[]> {
    const { rows } = await this.#client.query<{ sequence: bigint; num: number; message: Buffer }>(
      'SELECT sequence, block_num AS num, message FROM chain.feed WHERE reader = $1 ORDER BY sequence',
      [reader],
    )
    return rows.map(({ message, ...row }) => ({
      ...row,
      entry: decodeFeedEntry(inflateRawSync(message).toString()),
    }))
  }

  /** The newest lease of a reader: its number, and whether a session has its lock. */
  async lease(reader: string): Promise<Lease> {
    const { rows } = await this.#client.query<Lease>(
      `SELECT fence, EXISTS (
          SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND granted
            AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
            AND (classid::bigint << 32 | objid::bigint) = hashtextextended('pronghorn reader ' || reader, 0)
        ) AS "isLocked" FROM chain.leases WHERE reader = $1`,
      [reader],
    )
    return rows[0]!
  }

  /**
   * Lets a reader's session lose its lock with the next position that the reader writes, as a pooler does that gives the
   * session to others.
   */
  async loseLock(reader: string): Promise<void> {
    await this.#client.query('UPDATE simulation.traps SET loses_lock = $1', [reader])
  }

  /** Whether no position was written since `loseLock`. */
  async isLosingLock(): Promise<boolean> {
    const { rows } = await this.#client.query<{ is: boolean }>(
      'SELECT loses_lock IS NOT NULL AS "is" FROM simulation.traps',
    )
    return rows[0]!.is
  }

  async keepLock(): Promise<void> {
    await this.#client.query('UPDATE simulation.traps SET loses_lock = NULL')
  }

  /** Holds the next rollback where it deletes undone blocks, until `release`. */
  async holdRollback(): Promise<void> {
    await this.#client.query(
      `SELECT pg_advisory_lock(${TRAP}); UPDATE simulation.traps SET holds_rollback = true`,
    )
  }

  /** Whether a rollback is being held. */
  async isHoldingRollback(): Promise<boolean> {
    const { rowCount } = await this.#client.query(
      `SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND objid = ${TRAP} AND NOT granted
         AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
    )
    return rowCount === 1
  }

  async releaseRollback(): Promise<void> {
    await this.#client.query(
      `UPDATE simulation.traps SET holds_rollback = false; SELECT pg_advisory_unlock(${TRAP})`,
    )
  }

  /** Ends the sessions of fillers that are open now, and waits for them; returns how many. */
  async endSessions(): Promise<number> {
    const { rows } = await this.#client.query<{ ended: boolean }>(
      `SELECT pg_terminate_backend(pid, 5000) AS ended FROM pg_stat_activity
       WHERE datname = current_database() AND application_name LIKE 'pronghorn %'`,
    )
    return rows.filter(({ ended }) => ended).length
  }

  /** Cancels the running statements of fillers; returns how many. */
  async cancelStatements(): Promise<number> {
    const { rowCount } = await this.#client.query(
      `SELECT pg_cancel_backend(pid) FROM pg_stat_activity
       WHERE datname = current_database() AND application_name LIKE 'pronghorn filler%' AND state = 'active'`,
    )
    return rowCount ?? 0
  }

  /** Refuses with an SQLSTATE the next `times` times that a place is come by. */
  async refuse(place: RefusalPlace, state: string, message: string, times: number): Promise<void> {
    await this.#client.query(
      `INSERT INTO simulation.refusals SELECT $1, $2, $3, CASE WHEN is_called THEN last_value ELSE 0 END + $4
       FROM simulation.asked
       ON CONFLICT (place) DO UPDATE SET state = EXCLUDED.state, message = EXCLUDED.message, last = EXCLUDED.last`,
      [place, state, message, times],
    )
  }

  /** Ends every refusal. */
  async admit(): Promise<void> {
    await this.#client.query('DELETE FROM simulation.refusals')
  }

  /** How often the database refused so far, by class of SQLSTATE. */
  async countRefusals(): Promise<{ name: string; count: number }[]> {
    const { rows } = await this.#client.query<{ name: string; count: number }>(
      `SELECT sequencename AS name, last_value::integer AS count FROM pg_sequences
       WHERE schemaname = 'simulation' AND sequencename LIKE 'refused %' AND last_value IS NOT NULL`,
    )
    return rows
  }
}
