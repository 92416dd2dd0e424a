/** Remembers the fields that were reported, because a converter makes the same mistake for every object. */

/**
 * Maximum number of reported fields. Without a limit, a converter that copies users' map keys as field names would cause endless reports.
 */
const maxReported = 100

export class ReportedFields {
  readonly #reported = new Set<string>()

  /** Returns the paths that were not reported for the version yet; indexes of items are ignored. After 100 paths it returns none. */
  newPaths(version: string, paths: readonly string[]): readonly string[] {
    return paths.filter((path) => {
      const field = `${version} ${path.replaceAll(/\[\d+\]/g, '[]')}`
      if (this.#reported.size >= maxReported || this.#reported.has(field)) return false
      this.#reported.add(field)
      return true
    })
  }
}
