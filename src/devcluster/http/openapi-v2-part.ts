/** The paths and definitions that types add to the OpenAPI v2 document, as JSON and as protobuf. */
import type { JsonObject, JsonValue } from '../../api/json.ts'
import { isObject, stringifyJson } from '../../api/json.ts'
import type { ResourceInfo } from '../rest/resource-info.ts'
import { metaSchemas } from './openapi-meta.ts'
import { pathsOf } from './openapi-paths.ts'
import { componentsOf } from './openapi-schemas.ts'
import { encodeDefinition, encodePath } from './openapi-v2-protobuf.ts'
import { v2Schema } from './openapi-v2-schemas.ts'

/** A path or a definition of the OpenAPI v2 document. */
export class DocumentEntry {
  readonly name: string
  /** `"NAME":VALUE`, in JSON. */
  readonly json: Buffer
  readonly #encode: (name: string, value: JsonValue) => Buffer
  #protobuf: Buffer | undefined

  constructor(name: string, value: JsonValue, encode: (name: string, value: JsonValue) => Buffer) {
    this.name = name
    this.json = Buffer.from(`${JSON.stringify(name)}:${stringifyJson(value)}`)
    this.#encode = encode
  }

  /** The entry in protobuf. Few clients request protobuf, so the entry is encoded when this property is first read. */
  get protobuf(): Buffer {
    if (this.#protobuf === undefined) {
      const [[name, value] = ['', null]] = Object.entries(JSON.parse(`{${this.json.toString()}}`) as Record<string, JsonValue>)
      this.#protobuf = this.#encode(name, value)
    }
    return this.#protobuf
  }
}

/** The paths and definitions that some of the types add to the document. */
export interface DocumentPart {
  readonly rows: readonly ResourceInfo[]
  readonly paths: readonly DocumentEntry[]
  readonly definitions: readonly DocumentEntry[]
}

/** Returns the part with the definitions to which all other parts refer. */
export function commonPart(): DocumentPart {
  return { rows: [], paths: [], definitions: definitionsOf(metaSchemas, true, () => true) }
}

/**
 * Returns the part of the document for `rows`. Either every row is a built-in type, or every row is a custom type.
 *
 * @param before the part that an earlier call returned for these types. Entries that have not changed are reused.
 */
export function partOf(rows: readonly ResourceInfo[], before?: DocumentPart): DocumentPart {
  const items = rows.flatMap((row) =>
    Object.entries(pathsOf(row)).map(([path, item]) => [path, v2PathItem(item as JsonObject, row)] as const),
  )
  const builtin = rows.every(({ custom }) => !custom)
  return {
    rows,
    paths: unlessSame(
      items.map(([path, item]) => new DocumentEntry(path, item, encodePath)),
      before?.paths,
    ),
    definitions: unlessSame(
      definitionsOf(componentsOf(rows, 'v2'), builtin, (name) => !Object.hasOwn(metaSchemas, name)),
      before?.definitions,
    ),
  }
}

function definitionsOf(schemas: JsonObject, builtin: boolean, isWanted: (name: string) => boolean): DocumentEntry[] {
  return Object.entries(schemas)
    .filter(([name]) => isWanted(name))
    .map(([name, schema]) => new DocumentEntry(name, v2Schema(schema as JsonObject, { builtin }), encodeDefinition))
}

/**
 * Returns `entries`. If `before` contains an entry with the same name and the same content as an entry of `entries`, the result contains
 * the entry of `before` instead. An entry keeps its protobuf encoding, so an entry that has already been encoded is not encoded again.
 */
function unlessSame(entries: readonly DocumentEntry[], before: readonly DocumentEntry[] = []): readonly DocumentEntry[] {
  const known = new Map(before.map((entry) => [entry.name, entry]))
  return entries.map((entry) => {
    const former = known.get(entry.name)
    return former?.json.equals(entry.json) === true ? former : entry
  })
}

const protobuf = 'application/vnd.kubernetes.protobuf'
const produced = ['application/json', 'application/yaml']
const strategicMergePatch = 'application/strategic-merge-patch+json'

/**
 * Converts a path item from OpenAPI v3 to v2. In v2, a request body is a parameter, and the media types of an operation are in its fields
 * `consumes` and `produces`.
 */
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
