import { problemAt } from './problems.ts'
import type { ConfigProblem, ConfigWarning, OriginOf } from './problems.ts'
import type { Path } from './path.ts'
import type { ConfigPart } from './types.ts'

/** Content of a configuration file, and the origin of each value (the file or an environment variable). */
export interface PartSource {
  readonly value: unknown
  readonly originOf: OriginOf
}

/** Collects problems and warnings of the checks, with locations as the operator wrote them. */
export interface Findings {
  readonly problems: ConfigProblem[]
  readonly warnings: ConfigWarning[]
  /** Reports an invalid value; `found` replaces the value in the message. */
  refuse(part: ConfigPart, path: Path, allowed: string, found?: string): void
  warn(part: ConfigPart, path: Path, message: string): void
  /**
   * Two settings contradict each other: returns the setting to report as wrong. If only `earlier` comes from an
   * environment variable, returns `earlier`, otherwise `later`.
   */
  chooseFault<P extends Place>(earlier: P, later: P): P
}

/** A setting: a configuration file and the path of a value in that file. */
export interface Place {
  readonly part: ConfigPart
  readonly path: Path
}

/** Creates a `Findings` object without problems. @param sources content of each configuration file that was given. */
export function collectFindings(sources: ReadonlyMap<ConfigPart, PartSource>): Findings {
  const problems: ConfigProblem[] = []
  const warnings: ConfigWarning[] = []
  return {
    problems,
    warnings,
    refuse(part, path, allowed, found) {
      const source = sources.get(part)
      if (!source)
        throw new RangeError(
          `a check refused a setting of the ${part} configuration, but no ${part} configuration was given`,
        )
      const problem = problemAt(path, allowed, source.value, source.originOf)
      // If the file does not contain the refused setting, the refused value is the default of the setting.
      const shown = problem.found === 'nothing' ? 'nothing, hence the default' : problem.found
      problems.push({ ...problem, found: found ?? shown })
    },
    warn(part, path, message) {
      const source = sources.get(part)
      if (!source)
        throw new RangeError(
          `a check warned about a setting of the ${part} configuration, but no ${part} configuration was given`,
        )
      warnings.push({ ...source.originOf(path), message })
    },
    chooseFault(earlier, later) {
      const isSet = ({ part, path }: Place): boolean =>
        sources.get(part)?.originOf(path).file === 'environment'
      return isSet(earlier) && !isSet(later) ? earlier : later
    },
  }
}
