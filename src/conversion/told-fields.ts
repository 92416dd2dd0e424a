/** Remembers the fields that were reported, because a converter makes the same mistake for every object. */

/** A limit, since a converter that copies users' map keys as field names would report without end. */
const maxTold = 100

export class ToldFields {
  readonly #told = new Set<string>()

  /** Returns the paths that were not reported for the version yet; indexes of items are ignored. After 100 paths it returns none. */
  news(version: string, paths: readonly string[]): readonly string[] {
    return paths.filter((path) => {
      const field = `${version} ${path.replaceAll(/\[\d+\]/g, '[]')}`
      if (this.#told.size >= maxTold || this.#told.has(field)) return false
      this.#told.add(field)
      return true
    })
  }
}
