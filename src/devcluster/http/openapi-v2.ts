/** The OpenAPI v2 document: all types of all groups, in JSON and in protobuf. */
import { createHash } from 'node:crypto'
import { apiVersionOf } from '../../api/group-version-kind.ts'
import type { JsonObject, JsonValue } from '../../api/json.ts'
import { isObject, setOwn, stringifyJson } from '../../api/json.ts'
import type { Catalog } from '../resources/catalog.ts'
import type { ResourceInfo } from '../rest/resource-info.ts'
import { pathsOf } from './openapi-paths.ts'
import { encodeOpenApiV2 } from './openapi-v2-protobuf.ts'
import { componentsOf } from './openapi-schemas.ts'
import { v2Schema } from './openapi-v2-schemas.ts'

export interface OpenApiV2Document {
  readonly json: string
  readonly protobuf: Buffer
  /** The ETag of the document in JSON and in protobuf. */
  readonly etag: string
  /** Time at which the document was made, in milliseconds since 1970. */
  readonly madeAt: number
}

/** The paths and definitions of one group version. */
interface Part {
  readonly rows: readonly ResourceInfo[]
  readonly paths: JsonObject
  readonly definitions: JsonObject
}

/**
 * Builds the document on its first use. After a change of types, the next use builds the document again. Only the parts of group versions
 * with changed types are built again.
 */
export class OpenApiV2 {
  readonly #catalog: Catalog
  readonly #version: string
  readonly #now: () => number
  readonly #parts = new Map<string, Part>()
  /** The latest document, with the generation of the catalog for which it was made. */
  #document: { readonly generation: number; readonly document: OpenApiV2Document } | undefined

  /** @param version `info.version` of the document */
  constructor(catalog: Catalog, version: string, now: () => number) {
    this.#catalog = catalog
    this.#version = version
    this.#now = now
  }

  document(): OpenApiV2Document {
    const { generation } = this.#catalog
    if (this.#document?.generation === generation) return this.#document.document
    const json = stringifyJson(this.#swagger())
    const etag = `"${createHash('sha512').update(json).digest('hex').toUpperCase()}"`
    const before = this.#document?.document
    const document = before?.etag === etag ? before : documentOf(json, etag, this.#now())
    this.#document = { generation, document }
    return document
  }

  #swagger(): JsonObject {
    const parts = this.#currentParts()
    return {
      swagger: '2.0',
      info: { title: 'Kubernetes', version: this.#version },
      paths: sorted(parts.map(({ paths }) => paths)),
      definitions: sorted(parts.map(({ definitions }) => definitions)),
      securityDefinitions: {
        BearerToken: { description: 'Bearer Token authentication', type: 'apiKey', name: 'authorization', in: 'header' },
      },
      security: [{ BearerToken: [] }],
    }
  }

  #currentParts(): Part[] {
    const names = new Set<string>()
    const parts = this.#catalog.groups().flatMap(({ name: group, versions }) =>
      versions.map((version) => {
        const name = apiVersionOf({ group, version })
        names.add(name)
        const rows = this.#catalog.ofGroupVersion(group, version)
        const known = this.#parts.get(name)
        if (known !== undefined && known.rows.length === rows.length && known.rows.every((row, index) => row === rows[index])) return known
        const part = partOf(rows)
        this.#parts.set(name, part)
        return part
      }),
    )
    for (const name of this.#parts.keys()) if (!names.has(name)) this.#parts.delete(name)
    return parts
  }
}

function documentOf(json: string, etag: string, madeAt: number): OpenApiV2Document {
  let protobuf: Buffer | undefined
  return {
    json,
    // Few clients request protobuf, so it is encoded on its first use.
    get protobuf() {
      protobuf ??= encodeOpenApiV2(JSON.parse(json) as JsonObject)
      return protobuf
    },
    etag,
    madeAt,
  }
}

function partOf(rows: readonly ResourceInfo[]): Part {
  const paths: JsonObject = {}
  for (const row of rows) {
    for (const [path, item] of Object.entries(pathsOf(row))) setOwn(paths, path, v2PathItem(item as JsonObject, row))
  }
  const definitions: JsonObject = {}
  for (const builtin of [true, false]) {
    const own = rows.filter(({ custom }) => custom !== builtin)
    for (const [name, schema] of Object.entries(componentsOf(own, 'v2')))
      setOwn(definitions, name, v2Schema(schema as JsonObject, { builtin }))
  }
  return { rows, paths, definitions }
}

function sorted(parts: readonly JsonObject[]): JsonObject {
  const result: JsonObject = {}
  const entries = parts.flatMap((part) => Object.entries(part))
  for (const [name, value] of entries.sort(([a], [b]) => (a < b ? -1 : 1))) setOwn(result, name, value!)
  return result
}

const protobuf = 'application/vnd.kubernetes.protobuf'
const produced = ['application/json', 'application/yaml']
const strategicMergePatch = 'application/strategic-merge-patch+json'

/** Converts a path item from OpenAPI v3 to v2. In v2, a request body is a parameter, and an operation lists its media types separately. */
function v2PathItem({ parameters, ...operations }: JsonObject, { custom }: ResourceInfo): JsonObject {
  const entries = Object.entries(operations).map(([method, operation]) => [method, v2Operation(operation as JsonObject, custom)] as const)
  return { ...Object.fromEntries(entries), parameters: objects(parameters).map(v2Parameter) }
}

function v2Operation(operation: JsonObject, custom: boolean): JsonObject {
  const { operationId, tags, description, parameters, requestBody, responses, ...extensions } = operation
  const body = isObject(requestBody) ? requestBody : undefined
  const bodyTypes = isObject(body?.content) ? Object.keys(body.content) : []
  const isPatch = extensions['x-kubernetes-action'] === 'patch'
  const produces = custom ? produced : [...produced, protobuf]
  const watched = extensions['x-kubernetes-action'] === 'list' ? ['application/json;stream=watch', `${protobuf};stream=watch`] : []
  return {
    description: description!,
    consumes: isPatch
      ? [...bodyTypes.slice(0, 2), ...(custom ? [] : [strategicMergePatch]), ...bodyTypes.slice(2)]
      : custom
        ? produced
        : ['*/*'],
    produces: [...produces, ...(custom ? [] : watched)],
    schemes: ['https'],
    tags: tags!,
    operationId: operationId!,
    parameters: [...(body === undefined ? [] : [bodyParameter(body)]), ...objects(parameters).map(v2Parameter)],
    responses: Object.fromEntries(
      Object.entries(responses as JsonObject).map(([code, response]) => [code, v2Response(response as JsonObject)]),
    ),
    ...extensions,
  }
}

function bodyParameter({ required, content }: JsonObject): JsonObject {
  return { name: 'body', in: 'body', ...(required === true && { required }), schema: firstSchema(content) }
}

function v2Parameter({ schema, ...parameter }: JsonObject): JsonObject {
  return { ...(schema as JsonObject), ...parameter }
}

function v2Response({ description, content }: JsonObject): JsonObject {
  return { description: description!, ...(content !== undefined && { schema: firstSchema(content) }) }
}

/** Returns the schema of the first media type. All media types have the same schema. */
function firstSchema(content: JsonValue | undefined): JsonObject {
  const [first] = Object.values(isObject(content) ? content : {})
  return isObject(first) && isObject(first.schema) ? v2Schema(first.schema) : {}
}

function objects(values: JsonValue | undefined): JsonObject[] {
  return Array.isArray(values) ? values.filter(isObject) : []
}
