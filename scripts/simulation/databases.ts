import { inflateRawSync } from 'node:zlib'
import type pg from 'pg'
import { connectDatabase, migrate } from '../../services/core/database/index.ts'
import type { DatabaseAddress } from '../../services/core/database/index.ts'
import { decodeFeedEntry } from '../../services/core/feed/index.ts'
import type { FeedRow } from './feed-rules.ts'
import { refusalClasses } from './refusals.ts'
import type { ReaderCount } from './readers.ts'

/** Name of the database with the indexed base blocks, from which the databases of seeds are copied. */
const baseOf = (readers: ReaderCount): string => `simulation_base_${readers}`

/** Points at which triggers can refuse a statement. */
export const refusalPlaces = ['position', 'commit', 'rows', 'lease', 'rollback'] as const

export type RefusalPlace = (typeof refusalPlaces)[number]

/** Key of the advisory lock that blocks a rollback. */
const TRAP = 1_001

/**
 * Triggers that raise the errors in `simulation.refusals`. Sequences count the checked statements and the raised
 * errors, because the rollback of a refused transaction does not undo a sequence.
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

/**
 * Creates the database from which the databases of seeds with this number of readers are copied.
 * @param fill indexes the base blocks into it.
 */
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

/** Last committed block of a reader. */
export interface CommittedPosition {
  readonly num: number
  /** Id of the block, hexadecimal. */
  readonly id: string
  /** Block below which the reader cannot roll back. */
  readonly floor: number
}

/** Lease of a reader: the right to write, as stored in the database. */
export interface Lease {
  readonly fence: bigint
  readonly isLocked: boolean
}

/** Database of one seed, with a control connection that is independent of the filler. */
export class SimulatedDatabase {
  readonly address: DatabaseAddress
  readonly #admin: pg.Pool
  readonly #client: pg.Client

  private constructor(admin: pg.Pool, address: DatabaseAddress, client: pg.Client) {
    this.#admin = admin
    this.address = address
    this.#client = client
  }

  /** Copies the base database. `admin` must be connected to another database of the server. */
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

  /** Feed entries of a reader, in order. */
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

  /** Latest lease of a reader: its fence number, and whether a session holds its advisory lock. */
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
   * Makes the session of a reader lose its advisory lock: a trigger releases the lock when the session next writes the
   * reader's position. A connection pooler that reassigns sessions has the same effect.
   */
  async loseLock(reader: string): Promise<void> {
    await this.#client.query('UPDATE simulation.traps SET loses_lock = $1', [reader])
  }

  /**
   * Whether the trap that `loseLock` has set still waits: the reader has not written a position since, so its session
   * still holds the advisory lock.
   */
  async isLosingLock(): Promise<boolean> {
    const { rows } = await this.#client.query<{ is: boolean }>(
      'SELECT loses_lock IS NOT NULL AS "is" FROM simulation.traps',
    )
    return rows[0]!.is
  }

  async keepLock(): Promise<void> {
    await this.#client.query('UPDATE simulation.traps SET loses_lock = NULL')
  }

  /** Makes the next rollback wait before it deletes the undone blocks, until `releaseRollback`. */
  async holdRollback(): Promise<void> {
    await this.#client.query(
      `SELECT pg_advisory_lock(${TRAP}); UPDATE simulation.traps SET holds_rollback = true`,
    )
  }

  /** Whether a filler's rollback of blocks waits for the advisory lock of `holdRollback`. */
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

  /**
   * Terminates the open sessions of fillers and waits for their end.
   * @returns their number.
   */
  async endSessions(): Promise<number> {
    const { rows } = await this.#client.query<{ ended: boolean }>(
      `SELECT pg_terminate_backend(pid, 5000) AS ended FROM pg_stat_activity
       WHERE datname = current_database() AND application_name LIKE 'pronghorn %'`,
    )
    return rows.filter(({ ended }) => ended).length
  }

  /**
   * Cancels the running statements of fillers.
   * @returns their number.
   */
  async cancelStatements(): Promise<number> {
    const { rowCount } = await this.#client.query(
      `SELECT pg_cancel_backend(pid) FROM pg_stat_activity
       WHERE datname = current_database() AND application_name LIKE 'pronghorn filler%' AND state = 'active'`,
    )
    return rowCount ?? 0
  }

  /** Lets a trigger at the point `place` refuse the next `times` statements with the SQLSTATE `state`. */
  async refuse(place: RefusalPlace, state: string, message: string, times: number): Promise<void> {
    await this.#client.query(
      `INSERT INTO simulation.refusals SELECT $1, $2, $3, CASE WHEN is_called THEN last_value ELSE 0 END + $4
       FROM simulation.asked
       ON CONFLICT (place) DO UPDATE SET state = EXCLUDED.state, message = EXCLUDED.message, last = EXCLUDED.last`,
      [place, state, message, times],
    )
  }

  /** Makes the triggers refuse no more statements. */
  async admit(): Promise<void> {
    await this.#client.query('DELETE FROM simulation.refusals')
  }

  /** Number of refusals so far, by SQLSTATE class. */
  async countRefusals(): Promise<{ name: string; count: number }[]> {
    const { rows } = await this.#client.query<{ name: string; count: number }>(
      `SELECT sequencename AS name, last_value::integer AS count FROM pg_sequences
       WHERE schemaname = 'simulation' AND sequencename LIKE 'refused %' AND last_value IS NOT NULL`,
    )
    return rows
  }
}
