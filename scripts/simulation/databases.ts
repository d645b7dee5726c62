import type pg from 'pg'
import { connectDatabase, migrate } from '../../services/core/database/index.ts'
import type { DatabaseAddress } from '../../services/core/database/index.ts'
import type { FeedRow } from './feed-rules.ts'
import { refusalClasses } from './refusals.ts'

/** Name of the database that holds the base of all chains. */
const BASE = 'simulation_base'

/** Where the database can be made to refuse a statement. */
export const refusalPlaces = ['position', 'commit', 'rows', 'lease', 'rollback'] as const

export type RefusalPlace = (typeof refusalPlaces)[number]

/**
 * Triggers that refuse as often as a row says. The count is a sequence, because what a refused transaction writes is
 * undone with it.
 */
const REFUSALS = `
  CREATE SCHEMA simulation;
  CREATE SEQUENCE simulation.asked;
  ${refusalClasses.map((name) => `CREATE SEQUENCE simulation."refused ${name}"`).join(';')};
  CREATE TABLE simulation.refusals (place text PRIMARY KEY, state text NOT NULL, message text NOT NULL, last bigint NOT NULL);
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
  CREATE CONSTRAINT TRIGGER refuse_commit AFTER UPDATE ON chain.readers DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION simulation.refuse('commit');
  CREATE TRIGGER refuse BEFORE INSERT OR UPDATE OR DELETE ON assets.assets
    FOR EACH STATEMENT EXECUTE FUNCTION simulation.refuse('rows');
  CREATE TRIGGER refuse BEFORE UPDATE ON chain.leases FOR EACH ROW EXECUTE FUNCTION simulation.refuse('lease');
  CREATE TRIGGER refuse BEFORE DELETE ON chain.reversible_blocks
    FOR EACH STATEMENT EXECUTE FUNCTION simulation.refuse('rollback');`

/** Makes the database that all others are copied from; `fill` indexes the base of the chains into it. */
export async function createBaseDatabase(
  admin: pg.Pool,
  server: DatabaseAddress,
  fill: (address: DatabaseAddress) => Promise<void>,
): Promise<void> {
  await admin.query(`CREATE DATABASE ${BASE}`)
  const address = { ...server, database: BASE }
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
  static async create(admin: pg.Pool, server: DatabaseAddress, name: string): Promise<SimulatedDatabase> {
    await admin.query(`CREATE DATABASE ${name} TEMPLATE ${BASE}`)
    const address = { ...server, database: name }
    const client = await connectDatabase(address, { applicationName: 'simulation' })
    return new SimulatedDatabase(admin, address, client)
  }

  async drop(): Promise<void> {
    await this.#client.end()
    await this.#admin.query(`DROP DATABASE ${this.address.database} WITH (FORCE)`)
  }

  async position(): Promise<CommittedPosition> {
    const { rows } = await this.#client.query<{ num: number; id: Buffer; floor: number }>({
      name: 'position',
      text: `SELECT block_num AS num, block_id AS id,
          (SELECT min(b.block_num) FROM chain.reversible_blocks b) AS floor FROM chain.readers`,
    })
    const { num, id, floor } = rows[0]!
    return { num, id: id.toString('hex'), floor }
  }

  /** What is published to live clients, in order. */
  async feed(): Promise<FeedRow[]> {
    const { rows } = await this.#client.query<FeedRow>(
      `SELECT sequence, kind, block_num AS num, encode(block_id, 'hex') AS id FROM chain.feed ORDER BY sequence`,
    )
    return rows
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
