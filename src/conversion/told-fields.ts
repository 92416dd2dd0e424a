/** Which fields have been told already: what a converter gets wrong for one object it gets wrong for all. */

/** A converter that writes what users choose as names of fields has always more to tell. */
const maxTold = 100

export class ToldFields {
  readonly #told = new Set<string>()

  /** Those of the paths that are new for the version; another item of the same list is not. After 100 of them nothing is. */
  news(version: string, paths: readonly string[]): readonly string[] {
    return paths.filter((path) => {
      const field = `${version} ${path.replaceAll(/\[\d+\]/g, '[]')}`
      if (this.#told.size >= maxTold || this.#told.has(field)) return false
      this.#told.add(field)
      return true
    })
  }
}
