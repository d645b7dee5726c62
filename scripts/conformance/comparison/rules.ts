/** Any JSON value. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json }

/** At a path, every value of a group counts as the same. */
export interface Either {
  readonly at: string
  /** Only where the object around the value has these members. */
  readonly where?: Readonly<Record<string, Json>>
  readonly groups: readonly (readonly Json[])[]
}

/** A comparison rule that entries name. */
export interface Rule {
  /** Paths that are not compared. */
  readonly volatile?: readonly string[]
  /**
   * Arrays that are not strictly ordered: null = any order; a key = the sequence of its values is preserved and elements
   * with an equal value may change places.
   */
  readonly loose?: Readonly<Record<string, string | null>>
  readonly either?: readonly Either[]
}

/** Members that newer releases have added to a kind of object. */
export interface AddedFields {
  readonly of: string
  /** The object has all of these. */
  readonly when: readonly string[]
  readonly keys: readonly string[]
}

/** `rules.json` of a corpus. */
export interface RuleBook {
  readonly rules: ReadonlyMap<string, Rule>
  readonly addedFields: readonly AddedFields[]
}

/** Several rules as one. */
export function combineRules(rules: readonly Rule[]): Required<Rule> {
  return {
    volatile: rules.flatMap((rule) => rule.volatile ?? []),
    loose: Object.assign({}, ...rules.map((rule) => rule.loose ?? {})) as Record<string, string | null>,
    either: rules.flatMap((rule) => rule.either ?? []),
  }
}

/** Reads the content of `rules.json`. */
export function readRuleBook(text: string): RuleBook {
  const { added_fields: addedFields, ...rules } = JSON.parse(text) as Record<string, Rule> & {
    added_fields: AddedFields[]
  }
  return { rules: new Map(Object.entries(rules as Record<string, Rule>)), addedFields }
}

const compiled = new Map<string, RegExp>()

/** Whether a path fits a pattern: `*` is one key or index, `**` any number of them. */
export function matchesPath(pattern: string, path: string): boolean {
  let expression = compiled.get(pattern)
  if (!expression) {
    const body = pattern
      .split('.')
      .map((segment) =>
        segment === '**' ? '(?:[^.]+\\.)*' : `${segment === '*' ? '[^.]+' : escapeText(segment)}\\.`,
      )
      .join('')
    expression = new RegExp(`^${body}$`)
    compiled.set(pattern, expression)
  }
  return expression.test(`${path}.`)
}

function escapeText(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`)
}
