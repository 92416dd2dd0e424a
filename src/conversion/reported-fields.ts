/** `ReportedFields`: stores which fields have been reported, because a converter usually makes the same mistake for every object. */

/**
 * Maximum number of reported fields. Without a limit, a converter that copies users' map keys as field names would cause new reports again
 * and again.
 */
const maxReported = 100

export class ReportedFields {
  readonly #reported = new Set<string>()

  /**
   * Returns those of `paths` that have not been reported for the version yet, and marks them as reported. Indexes of items are ignored.
   * After `maxReported` paths, it returns none.
   */
  newPaths(version: string, paths: readonly string[]): readonly string[] {
    return paths.filter((path) => {
      const field = `${version} ${path.replaceAll(/\[\d+\]/g, '[]')}`
      if (this.#reported.size >= maxReported || this.#reported.has(field)) return false
      this.#reported.add(field)
      return true
    })
  }
}
