/** OpenAPI v3: an index with a hash for each group version, and one document per group version. */
import { stringifyJson } from '../../api/json.ts'
import { createHash } from 'node:crypto'
import { apiVersionOf } from '../../api/group-version-kind.ts'
import type { JsonObject } from '../../api/json.ts'
import type { Catalog } from '../resources/catalog.ts'
import type { ResourceInfo } from '../rest/resource-info.ts'
import { pathsOf } from './openapi-paths.ts'
import { componentsOf } from './openapi-schemas.ts'

export interface OpenApiDocument {
  readonly text: string
  /**
   * The hash of the document. The index contains the document's URL with this hash. A changed document has another hash and therefore
   * another URL, so clients can cache a response forever.
   */
  readonly hash: string
}

/** Builds each document on its first use, and caches the document until the types of its group version change. */
export class OpenApi {
  readonly #catalog: Catalog
  readonly #version: string
  readonly #documents = new Map<string, { rows: readonly ResourceInfo[]; document: OpenApiDocument }>()

  /** @param version `info.version` of the documents of built-in types */
  constructor(catalog: Catalog, version: string) {
    this.#catalog = catalog
    this.#version = version
  }

  /** Returns the index at `/openapi/v3`. */
  index(): JsonObject {
    const paths = this.#catalog.groups().flatMap(({ name, versions }) =>
      versions.map((version) => {
        const path = documentPath(name, version)
        const { hash } = this.document(path)!
        return [path, { serverRelativeURL: `/openapi/v3/${path}?hash=${hash}` }] as const
      }),
    )
    return { paths: Object.fromEntries(paths) }
  }

  /** Returns the document for `api/v1` or `apis/GROUP/VERSION`; undefined for an unknown group version. */
  document(path: string): OpenApiDocument | undefined {
    const match = /^api(?:s\/([^/]+))?\/([^/]+)$/.exec(path)
    const rows = match === null ? [] : this.#catalog.ofGroupVersion(match[1] ?? '', match[2]!)
    if (rows.length === 0) {
      this.#documents.delete(path)
      return undefined
    }
    const known = this.#documents.get(path)
    if (known !== undefined && known.rows.length === rows.length && known.rows.every((row, index) => row === rows[index]))
      return known.document
    const text = stringifyJson({
      openapi: '3.0.0',
      info: rows.every(({ custom }) => custom)
        ? { title: 'Kubernetes CRD Swagger', version: 'v0.1.0' }
        : { title: 'Kubernetes', version: this.#version },
      paths: Object.assign({}, ...rows.map(pathsOf)) as JsonObject,
      components: { schemas: componentsOf(rows) },
    })!
    const document = { text, hash: createHash('sha512').update(text).digest('hex').toUpperCase() }
    this.#documents.set(path, { rows, document })
    return document
  }
}

function documentPath(group: string, version: string): string {
  return `${group === '' ? 'api' : 'apis'}/${apiVersionOf({ group, version })}`
}
