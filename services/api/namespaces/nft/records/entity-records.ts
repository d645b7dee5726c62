import { raw } from '../../../sql/index.ts'
import type { Json } from '../../../json/index.ts'
import type { Assembler, Fragment } from '../../../records/index.ts'
import { cte } from '../../../records/index.ts'
import { packRows, unpackRows } from '../../../database/index.ts'
import { nestedObjects, ownTemplateMembers, templateData } from './asset-json.ts'
import type { RecordSource } from './asset-records.ts'
import { measureCollections, measureSchemas, measureTemplates } from './record-sizes.ts'
import {
  collectionVersionsOf,
  readPairs,
  schemaVersionsOf,
  COLLECTION_RECORD_VERSION,
  collectionFragment,
  collectionRecordFragment,
  collectionObject,
  SCHEMA_VERSION,
  schemaFragment,
  TEMPLATE_VERSION,
  templateFragment,
} from '../fragments/index.ts'

/** Assembles collections, by name. */
export function collectionAssembler(source: RecordSource): Assembler {
  return {
    keyType: 'text',
    columnCount: 1,
    measure: measureCollections,
    select: (keys) => ({
      ctes: [],
      columns: [
        raw(`(SELECT ${packRows(['c.collection_name', 'c.version'], 'p.n')} FROM ${keys} p CROSS JOIN LATERAL (
          SELECT c.collection_name, ${COLLECTION_RECORD_VERSION} AS version
          FROM assets.collections c LEFT JOIN assets.author_swaps w USING (collection_name)
          WHERE c.collection_name = p.k OFFSET 0) c)`),
      ],
    }),
    read([rows]) {
      const versions = readPairs(rows)
      return {
        versions: new Map([[collectionRecordFragment, versions]]),
        assemble: (found) =>
          mapKnown(versions.keys(), (name) => {
            const fragment = found.get(collectionRecordFragment, name)
            return fragment && [name, [`{"contract":"${source.contract}",`, fragment.texts[0]!, '}']]
          }),
      }
    },
  }
}

/** Columns of the record of a schema. */
export type SchemaView = 'whole' | 'without types and assets'

type SchemaRow = readonly [key: string, collection: string, version: string, minted: string]

/** Assembles schemas, by `collection/schema`. */
export function schemaAssembler(source: RecordSource, view: SchemaView = 'whole'): Assembler {
  return {
    keyType: 'text',
    columnCount: 2,
    measure: measureSchemas,
    select: (keys) => ({
      ctes: [
        cte(
          's',
          `SELECT p.n, s.* FROM ${keys} p CROSS JOIN LATERAL (
            SELECT s.collection_name, s.schema_name, ${SCHEMA_VERSION} AS version, (
              SELECT n.minted FROM assets.schema_counts n
              WHERE n.collection_name = s.collection_name AND n.schema_name = s.schema_name) AS minted
            FROM assets.schemas s WHERE s.collection_name = split_part(p.k, '/', 1)
              AND s.schema_name = split_part(p.k, '/', 2) OFFSET 0) s`,
        ),
      ],
      columns: [
        raw(
          `(SELECT ${packRows(
            [
              `concat(s.collection_name, '/', s.schema_name)`,
              's.collection_name',
              's.version',
              'coalesce(s.minted, 0)',
            ],
            's.n',
          )} FROM s)`,
        ),
        raw(collectionVersionsOf('s')),
      ],
    }),
    read([packed, collections]) {
      const rows = unpackRows<SchemaRow>(packed)
      return {
        versions: new Map([
          [schemaFragment, new Map(rows.map(([key, , version]) => [key, version]))],
          [collectionFragment, readPairs(collections)],
        ]),
        assemble: (found) =>
          mapKnown(rows, ([key, collectionName, , minted]) => {
            const schema = found.get(schemaFragment, key)
            const collection = found.get(collectionFragment, collectionName)
            if (!schema || !collection) return undefined
            const [members, types] = schema.texts
            const own = [`{"contract":"${source.contract}",`, members!]
            const nested = [',"collection":', collectionObject(collection)]
            if (view !== 'whole') return [key, [own, nested, '}']]
            return [key, [own, ',', types!, nested, `,"assets":${minted}}`]]
          }),
      }
    },
  }
}

type TemplateRow = readonly [id: string, collection: string, schema: string, version: string]

/** Assembles templates, by id. */
export function templateAssembler(source: RecordSource): Assembler {
  return {
    keyType: 'integer',
    columnCount: 3,
    measure: measureTemplates,
    select: (keys) => ({
      ctes: [
        cte(
          't',
          `SELECT p.n, t.* FROM ${keys} p CROSS JOIN LATERAL (
            SELECT t.template_id, t.collection_name, t.schema_name, ${TEMPLATE_VERSION} AS version
            FROM assets.templates t WHERE t.template_id = p.k OFFSET 0) t`,
        ),
      ],
      columns: [
        `(SELECT ${packRows(['t.template_id', 't.collection_name', 't.schema_name', 't.version'], 't.n')} FROM t)`,
        collectionVersionsOf('t'),
        schemaVersionsOf('t'),
      ].map(raw),
    }),
    read([packed, collections, schemas]) {
      const rows = unpackRows<TemplateRow>(packed)
      return {
        versions: new Map([
          [templateFragment, new Map(rows.map(([id, , , version]) => [id, version]))],
          [collectionFragment, readPairs(collections)],
          [schemaFragment, readPairs(schemas)],
        ]),
        assemble: (found) =>
          mapKnown(rows, ([id, collectionName, schemaName]) => {
            const template = found.get(templateFragment, id)
            const collection = found.get(collectionFragment, collectionName)
            const schema = found.get(schemaFragment, `${collectionName}/${schemaName}`)
            if (!template || !collection || !schema) return undefined
            return [id, templateRecord(source.contract, template, collection, schema)]
          }),
      }
    },
  }
}

function templateRecord(contract: string, template: Fragment, collection: Fragment, schema: Fragment): Json {
  return [
    `{"contract":"${contract}",`,
    ownTemplateMembers(template),
    ',',
    nestedObjects(collection, schema),
    ',',
    templateData(template),
    '}',
  ]
}

/** Records by key, in the order of the rows; what is gone meanwhile, undone by a fork, is left out. */
function mapKnown<Row>(
  rows: Iterable<Row>,
  assemble: (row: Row) => readonly [key: string, record: Json] | undefined,
): Map<string, Json> {
  const records = new Map<string, Json>()
  for (const row of rows) {
    const record = assemble(row)
    if (record) records.set(record[0], record[1])
  }
  return records
}
