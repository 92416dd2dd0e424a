/** The OpenAPI v2 document: all types of all groups, in JSON and in protobuf. */
import { createHash } from 'node:crypto'
import { apiVersionOf } from '../../api/group-version-kind.ts'
import type { JsonObject } from '../../api/json.ts'
import { LoopTurns, TaskSlices } from '../../runtime/time-slices.ts'
import type { Catalog } from '../resources/catalog.ts'
import type { ResourceInfo } from '../rest/resource-info.ts'
import type { DocumentEntry, DocumentPart } from './openapi-v2-part.ts'
import { commonPart, partOf } from './openapi-v2-part.ts'
import { encodeDocument } from './openapi-v2-protobuf.ts'

export interface OpenApiV2Document {
  readonly json: Buffer
  /** Returns the document in protobuf. */
  readonly protobuf: () => Promise<Buffer>
  /** The ETag, which is the same for the document in JSON and in protobuf. */
  readonly etag: string
  /** Time at which the document was made, in milliseconds since 1970. */
  readonly madeAt: number
}

/**
 * The document is built in slices of this duration, in milliseconds. Between two slices, the event loop serves other requests. A document
 * with several hundred CRDs takes about a second in total.
 */
const sliceMs = 5

/**
 * Builds the document on its first use. If types have changed, the next use builds only the paths and definitions of the changed types. All
 * other paths and definitions are reused.
 */
export class OpenApiV2 {
  readonly #catalog: Catalog
  readonly #version: string
  readonly #now: () => number
  readonly #turns = new LoopTurns()
  /**
   * The parts of the document. The key is the group version for a part of built-in types, and `GROUP/VERSION/PLURAL` for a part of a custom
   * type. The part to which all other parts refer (`commonPart`) has an empty key.
   */
  #parts: ReadonlyMap<string, DocumentPart> = new Map()
  /** The latest document, and the generation of the catalog that the document describes. */
  #latest: { readonly generation: number; readonly document: OpenApiV2Document } | undefined
  #building: Promise<unknown> | undefined

  /** @param version `info.version` of the document */
  constructor(catalog: Catalog, version: string, now: () => number) {
    this.#catalog = catalog
    this.#version = version
    this.#now = now
  }

  /**
   * Resolves with a document that describes the types that exist at the time of the call. If the types have changed since the call, the
   * document may describe the changed types.
   */
  async document(): Promise<OpenApiV2Document> {
    const { generation } = this.#catalog
    while (this.#latest === undefined || this.#latest.generation < generation) {
      this.#building ??= this.#build().finally(() => {
        this.#building = undefined
      })
      await this.#building
    }
    return this.#latest.document
  }

  async #build(): Promise<void> {
    const { generation } = this.#catalog
    const slices = new TaskSlices(this.#turns, sliceMs)
    const parts = new Map<string, DocumentPart>([['', this.#parts.get('') ?? commonPart()]])
    for (const [name, rows] of typesOf(this.#catalog)) {
      const known = this.#parts.get(name)
      parts.set(name, known !== undefined && isSame(known.rows, rows) ? known : partOf(rows, known))
      await slices.next()
    }
    this.#parts = parts
    const paths = sorted([...parts.values()].map((part) => part.paths))
    const definitions = sorted([...parts.values()].map((part) => part.definitions))
    const { json, etag } = await jsonOf(this.#fields, { paths, definitions }, slices)
    const before = this.#latest?.document
    this.#latest = {
      generation,
      document: before?.etag === etag ? before : { json, etag, madeAt: this.#now(), protobuf: this.#encoder(paths, definitions) },
    }
  }

  /** The fields of the document besides `paths` and `definitions`. */
  get #fields(): JsonObject {
    return {
      swagger: '2.0',
      info: { title: 'Kubernetes', version: this.#version },
      securityDefinitions: {
        BearerToken: { description: 'Bearer Token authentication', type: 'apiKey', name: 'authorization', in: 'header' },
      },
      security: [{ BearerToken: [] }],
    }
  }

  /**
   * Returns a function that returns the document, encoded in protobuf. Few clients request protobuf, so the document is not encoded until
   * the first call. Later calls return the same bytes.
   */
  #encoder(paths: readonly DocumentEntry[], definitions: readonly DocumentEntry[]): () => Promise<Buffer> {
    let encoded: Promise<Buffer> | undefined
    const encode = async (): Promise<Buffer> => {
      const slices = new TaskSlices(this.#turns, sliceMs)
      const bytesOf = async (entries: readonly DocumentEntry[]): Promise<Buffer[]> => {
        const bytes: Buffer[] = []
        for (const { protobuf } of entries) {
          bytes.push(protobuf)
          await slices.next()
        }
        return bytes
      }
      return encodeDocument(this.#fields, await bytesOf(paths), await bytesOf(definitions))
    }
    return () => (encoded ??= encode())
  }
}

/** Returns the types of each part of the document. A part has all built-in types of one group version, or one custom type. */
function typesOf(catalog: Catalog): ReadonlyMap<string, readonly ResourceInfo[]> {
  const types = new Map<string, ResourceInfo[]>()
  const rows = catalog.all()
  for (const row of [...rows.filter(({ custom }) => !custom), ...rows.filter(({ custom }) => custom)]) {
    const name = row.custom ? `${apiVersionOf(row)}/${row.plural}` : apiVersionOf(row)
    const known = types.get(name)
    if (known === undefined) types.set(name, [row])
    else known.push(row)
  }
  return types
}

function isSame(before: readonly ResourceInfo[], rows: readonly ResourceInfo[]): boolean {
  return before.length === rows.length && before.every((row, index) => row === rows[index])
}

/** Returns the entries of all lists, sorted by name. If several lists have an entry of the same name, the first entry is used. */
function sorted(lists: readonly (readonly DocumentEntry[])[]): readonly DocumentEntry[] {
  const byName = new Map<string, DocumentEntry>()
  for (const entry of lists.flat()) if (!byName.has(entry.name)) byName.set(entry.name, entry)
  return [...byName.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
}

/** Returns the document in JSON, and its ETag. */
async function jsonOf(
  { swagger, info, ...others }: JsonObject,
  lists: Readonly<Record<string, readonly DocumentEntry[]>>,
  slices: TaskSlices,
): Promise<{ json: Buffer; etag: string }> {
  const hash = createHash('sha512')
  const chunks: Buffer[] = []
  const write = (bytes: Buffer): void => {
    hash.update(bytes)
    chunks.push(bytes)
  }
  write(Buffer.from(JSON.stringify({ swagger, info }).slice(0, -1)))
  for (const [name, entries] of Object.entries(lists)) {
    write(Buffer.from(`,${JSON.stringify(name)}:{`))
    for (const [index, { json }] of entries.entries()) {
      if (index > 0) write(comma)
      write(json)
      await slices.next()
    }
    write(Buffer.from('}'))
  }
  write(Buffer.from(`,${JSON.stringify(others).slice(1)}`))
  return { json: Buffer.concat(chunks), etag: `"${hash.digest('hex').toUpperCase()}"` }
}

const comma = Buffer.from(',')
