/**
 * `ReportedFields`: remembers the fields that have been reported because a converter returned them although the target version does not
 * have them. A converter usually returns such a field for every object, but the field is reported only once.
 */

/**
 * Maximum number of reported fields. A converter may by mistake return the keys of a map as field names. Users choose these keys, so
 * without this limit, each new key would cause a report.
 */
const maxReported = 100

export class ReportedFields {
  readonly #reported = new Set<string>()

  /**
   * Returns the `paths` that have not been reported for the version yet, and marks them as reported. `a[0].b` and `a[1].b` count as the
   * same path. When `maxReported` paths have been reported, the method returns no further paths.
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
