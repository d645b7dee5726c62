import { shape } from '../../../endpoint/index.ts'
import type { Json } from '../../../json/index.ts'
import { nameOf, joinDataMap, overlayDataMap, splitDataMap } from '../../../json/maps/index.ts'
import type { RowParts } from '../../../records/index.ts'
import { field, shapeOf } from '../../../records/fields/index.ts'
import type { Group } from '../../../records/fields/index.ts'
import { membersText, sharedRow } from '../../../records/fragments/index.ts'
import type { Fragment, FragmentKind } from '../../../records/fragments/index.ts'

/** The attribute `name` of an asset or template. */
export const shownName = shape.nullable(
  shape.text('The attribute name; a number or a list as its text. Absent without such an attribute'),
)

const supply = {
  template_id: field.decimal('t.template_id', 'Template'),
  max_supply: field.decimal('t.max_supply', 'Greatest number of assets; 0 = unlimited'),
  issued_supply: field.decimal('t.issued_supply', 'Assets minted so far; burning does not lower it'),
}
const flags = {
  is_transferable: field.flag('t.transferable', 'Assets can be transferred'),
  is_burnable: field.flag('t.burnable', 'Assets can be burned'),
}
const ownData = {
  immutable_data: field.attributes('t.immutable_data', 'Attributes that never change'),
  mutable_data: field.attributes('t.mutable_data', 'Attributes that may change'),
}
const times = {
  created_at_time: field.ofHistory(field.time('t.created_at_time', 'Time of creation')),
  created_at_block: field.ofHistory(field.decimal('t.created_at_block', 'Block of creation')),
  deleted_at_time: field.nullable(field.time('t.deleted_at_time', 'Time of deletion')),
  deleted_at_block: field.nullable(field.decimal('t.deleted_at_block', 'Block of deletion')),
}

/** The template's own members. */
export const templateMembers = shapeOf({ ...supply, ...flags, ...ownData, ...times })
/** Member with the immutable and mutable attributes of a template in one map. */
export const templateDataMember = { data: shape.attributes('Mutable data, overlaid by immutable data') }

/** The template inside assets. */
export const lightTemplate = shape.record('LightTemplate', 'A template, as assets contain it', {
  ...templateMembers,
  ...templateDataMember,
})

/**
 * Fragment of a template. Key: template id. Texts: its members without attributes, in two parts; its immutable
 * attributes; its mutable attributes.
 */
const templateFragment: FragmentKind = {
  name: 'template',
  key: 't.template_id',
  version: 't.xmin',
  texts: [
    membersText(supply),
    membersText(flags),
    ...Object.values(ownData).map(({ sql, empty }) => ({
      ...{ columns: [sql], text: ([value]: readonly string[]) => value! || empty! },
    })),
    membersText(times),
  ],
  large: ['t.immutable_data', 't.mutable_data'],
  from: (keys) => `FROM assets.templates t WHERE t.template_id = ANY(${keys}::integer[])`,
  maxBytes: 48 * 1024 * 1024,
  assembledBytes: 3_000,
}

/** Shared row: the template of a record. */
export const templateRow = sharedRow({
  ...{ kind: templateFragment, table: 'assets.templates', alias: 't', columns: ['template_id'] },
})

/** The flags of a template: whether its assets can be transferred and burned. */
export function templateFlags({ texts }: Fragment): string {
  return texts[1]!
}

/**
 * The member `template` of other records.
 * @param index position of the template among the record's shared rows.
 */
export function templateMember(index: number): Group<RowParts> {
  return {
    members: { template: lightTemplate },
    write: ({ shared }) => ['"template":', templateObject(shared[index]!)],
  }
}

/** The object of a template inside other records. */
export function templateObject(template: Fragment): Json {
  return ['{', ownTemplateMembers(template), ',"data":', templateMaps(template).data, '}']
}

/** The members of a template up to its nested objects. */
export function ownTemplateMembers({ texts }: Fragment): Json {
  const [head, shownFlags, immutableData, mutableData, tail] = texts
  return [
    `${head!},${shownFlags!},"immutable_data":`,
    immutableData!,
    ',"mutable_data":',
    mutableData!,
    `,${tail!}`,
  ]
}

/** The members `data` and `name` of a template. */
export function templateData(template: Fragment): Json {
  const { data, name } = templateMaps(template)
  return ['"data":', data, name]
}

interface TemplateMaps {
  readonly immutable: ReturnType<typeof overlayDataMap>
  readonly mutable: ReturnType<typeof overlayDataMap>
  /** JSON text of both attribute maps, and `,"name":…` if they have a name. */
  readonly data: string
  readonly name: string
}

const maps = new WeakMap<Fragment, TemplateMaps>()

/** The attribute maps of a template, parsed once for each version of the template. */
export function templateMaps(template: Fragment): TemplateMaps {
  const known = maps.get(template)
  if (known) return known
  const [immutable, mutable] = [splitDataMap(template.texts[2]!), splitDataMap(template.texts[3]!)]
  const merged = overlayDataMap(mutable, immutable)
  const name = nameOf(merged)
  const split = {
    immutable,
    mutable,
    data: mutable.length === 0 ? template.texts[2]! : joinDataMap(merged),
    name: name === undefined ? '' : `,"name":${name}`,
  }
  maps.set(template, split)
  return split
}
