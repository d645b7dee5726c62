import { problemAt } from './problems.ts'
import type { ConfigProblem, ConfigWarning, OriginOf } from './problems.ts'
import type { Path } from './path.ts'
import type { ConfigPart } from './types.ts'

/** A part as it was given, and where each of its values came from. */
export interface PartSource {
  readonly value: unknown
  readonly originOf: OriginOf
}

/** Collects what the checks find, and words it as the operator wrote it. */
export interface Findings {
  readonly problems: ConfigProblem[]
  readonly warnings: ConfigWarning[]
  /** A value that may not stay; `found` replaces the value itself in the text. */
  refuse(part: ConfigPart, path: Path, allowed: string, found?: string): void
  warn(part: ConfigPart, path: Path, message: string): void
}

/** Starts an empty collection. A part without source has only defaults. */
export function collectFindings(sources: ReadonlyMap<ConfigPart, PartSource>): Findings {
  const problems: ConfigProblem[] = []
  const warnings: ConfigWarning[] = []
  return {
    problems,
    warnings,
    refuse(part, path, allowed, found) {
      const source = sources.get(part)
      if (!source) throw new RangeError(`${part} was refused without being given`)
      const problem = problemAt(path, allowed, source.value, source.originOf)
      // A default that clashes stands nowhere in the file.
      const shown = problem.found === 'nothing' ? 'nothing, hence the default' : problem.found
      problems.push({ ...problem, found: found ?? shown })
    },
    warn(part, path, message) {
      const source = sources.get(part)
      if (!source) throw new RangeError(`a warning about ${part}, which was not given`)
      warnings.push({ ...source.originOf(path), message })
    },
  }
}
