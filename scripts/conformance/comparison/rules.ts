export type Json = null | boolean | number | string | Json[] | { [key: string]: Json }

/** Groups of values at a path: values of one group count as equal. */
export interface Either {
  readonly at: string
  /** The groups apply only to values in an object with these members. */
  readonly where?: Readonly<Record<string, Json>>
  readonly groups: readonly (readonly Json[])[]
}

/** A named comparison rule. */
export interface Rule {
  /** Paths that are not compared. */
  readonly volatile?: readonly string[]
  /**
   * Arrays with a relaxed order. null: any order. A key name: the sequence of that key's values must match; elements
   * with equal values may be swapped.
   */
  readonly loose?: Readonly<Record<string, string | null>>
  readonly either?: readonly Either[]
}

/** Members that newer releases have added to objects of one kind. */
export interface AddedFields {
  readonly of: string
  /** Names of members: an object belongs to the kind `of` if it has all these members. */
  readonly when: readonly string[]
  readonly keys: readonly string[]
}

/** Content of `rules.json`: how answers are compared with the recorded answers. */
export interface RuleBook {
  readonly rules: ReadonlyMap<string, Rule>
  readonly addedFields: readonly AddedFields[]
}

/** Merges several rules into one. */
export function combineRules(rules: readonly Rule[]): Required<Rule> {
  return {
    volatile: rules.flatMap((rule) => rule.volatile ?? []),
    loose: Object.assign({}, ...rules.map((rule) => rule.loose ?? {})) as Record<string, string | null>,
    either: rules.flatMap((rule) => rule.either ?? []),
  }
}

/** Parses `rules.json`. */
export function readRuleBook(text: string): RuleBook {
  const { added_fields: addedFields, ...rules } = JSON.parse(text) as Record<string, Rule> & {
    added_fields: AddedFields[]
  }
  return { rules: new Map(Object.entries(rules as Record<string, Rule>)), addedFields }
}

const compiled = new Map<string, RegExp>()

/** Whether a path matches a pattern. `*` matches one key or index, `**` any number. */
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
