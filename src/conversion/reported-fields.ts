/** `ReportedFields`: ensures that each field is reported once. A converter usually makes the same mistake for every object. */

/**
 * Maximum number of reported fields. Without a limit, a converter that copies users' map keys as field names would cause new reports again
 * and again.
 */
const maxReported = 100

export class ReportedFields {
  readonly #reported = new Set<string>()

  /**
   * Returns the `paths` that have not been reported for the version yet, and marks them as reported. `a[0].b` and `a[1].b` count as the
   * same path. After `maxReported` paths, it returns an empty list.
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
