/** The table of all served types. Discovery, OpenAPI and the routes are derived from this table. CRDs add and remove rows. */
import type { ResourceInfo } from '../rest/resource-info.ts'

export class Catalog {
  readonly #byPath = new Map<string, ResourceInfo>()
  readonly #byKind = new Map<string, ResourceInfo>()
  readonly #listeners = new Set<() => void>()
  #generation = 0

  constructor(rows: readonly ResourceInfo[] = []) {
    for (const row of rows) this.add(row)
  }

  /** The number of changes so far. Data that is computed from the catalog can be cached until this number changes. */
  get generation(): number {
    return this.#generation
  }

  /** Adds a row, or replaces the row of the same group, version and plural. */
  add(info: ResourceInfo): void {
    const path = pathOf(info.group, info.version, info.plural)
    const before = this.#byPath.get(path)
    if (before !== undefined) this.#byKind.delete(pathOf(before.group, before.version, before.kind))
    this.#byPath.set(path, info)
    this.#byKind.set(pathOf(info.group, info.version, info.kind), info)
    this.#changed()
  }

  /** Removes one version of a type, or all versions when `version` is undefined. */
  remove(group: string, plural: string, version?: string): void {
    let removed = false
    for (const [path, info] of this.#byPath) {
      if (info.group !== group || info.plural !== plural || (version !== undefined && info.version !== version)) continue
      this.#byPath.delete(path)
      const kindPath = pathOf(info.group, info.version, info.kind)
      if (this.#byKind.get(kindPath) === info) this.#byKind.delete(kindPath)
      removed = true
    }
    if (removed) this.#changed()
  }

  find(group: string, version: string, plural: string): ResourceInfo | undefined {
    return this.#byPath.get(pathOf(group, version, plural))
  }

  byKind(group: string, version: string, kind: string): ResourceInfo | undefined {
    return this.#byKind.get(pathOf(group, version, kind))
  }

  /** Returns the table rows of one group version, sorted by the plural names of the types. */
  ofGroupVersion(group: string, version: string): readonly ResourceInfo[] {
    return this.all().filter((info) => info.group === group && info.version === version)
  }

  /** Returns all rows, sorted by group, version and plural. */
  all(): readonly ResourceInfo[] {
    return [...this.#byPath.values()].sort(
      (a, b) => compare(a.group, b.group) || compareVersions(a.version, b.version) || compare(a.plural, b.plural),
    )
  }

  /** Returns the groups, the core group first. The first version of each group is the preferred version. */
  groups(): readonly { name: string; versions: readonly string[] }[] {
    const versions = new Map<string, Set<string>>()
    for (const info of this.all()) {
      const known = versions.get(info.group) ?? new Set()
      versions.set(info.group, known.add(info.version))
    }
    return [...versions].map(([name, names]) => ({ name, versions: [...names].sort(compareVersions) }))
  }

  /** Calls `listener` after each change. The returned function removes `listener`. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  #changed(): void {
    this.#generation += 1
    for (const listener of this.#listeners) listener()
  }
}

function pathOf(...parts: string[]): string {
  return parts.join('/')
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/**
 * Compares two versions in Kubernetes' order: v2, v1, v2beta1, v1beta2, v1alpha1, then other names alphabetically
 * (k8s.io/apimachinery/pkg/version: CompareKubeAwareVersionStrings).
 */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [parse(a), parse(b)]
  if (left === undefined || right === undefined) {
    if (left !== undefined) return -1
    return right !== undefined ? 1 : compare(a, b)
  }
  return right.stability - left.stability || right.major - left.major || right.minor - left.minor
}

function parse(version: string): { stability: number; major: number; minor: number } | undefined {
  const match = /^v([1-9]\d*)(?:(alpha|beta)([1-9]\d*))?$/.exec(version)
  if (match === null) return undefined
  const stability = match[2] === undefined ? 3 : match[2] === 'beta' ? 2 : 1
  return { stability, major: Number(match[1]), minor: Number(match[3] ?? 0) }
}
