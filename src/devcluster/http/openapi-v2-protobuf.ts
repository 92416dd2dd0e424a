/**
 * Encodes the OpenAPI v2 document as protobuf, as kube-apiserver does with gnostic (github.com/google/gnostic-models/openapiv2:
 * OpenAPIv2.proto).
 */
import { stringify } from 'yaml'
import type { JsonObject, JsonValue } from '../../api/json.ts'
import { isObject } from '../../api/json.ts'
import { WireWriter } from '../protobuf/wire-writer.ts'

/** Writes the value of a JSON field to a message. */
type Write = (writer: WireWriter, value: JsonValue) => void
/** The JSON fields of a message, in the order of their numbers. */
type Message = Readonly<Record<string, Write>>

const text =
  (field: number): Write =>
  (writer, value) =>
    writer.string(field, String(value))
const flag =
  (field: number): Write =>
  (writer, value) =>
    writer.bool(field, value === true)
const integer =
  (field: number): Write =>
  (writer, value) =>
    writer.integer(field, Number(value))
const double =
  (field: number): Write =>
  (writer, value) =>
    writer.double(field, Number(value))
const texts =
  (field: number): Write =>
  (writer, value) => {
    for (const item of listOf(value)) writer.string(field, String(item))
  }
/** A value of any type: a message with the value as YAML in its second field. */
const any =
  (field: number): Write =>
  (writer, value) =>
    writer.message(field, anyValue(value))
const each =
  (write: Write): Write =>
  (writer, value) => {
    for (const item of listOf(value)) write(writer, item)
  }
/** An embedded message. `message` is a function, because the encoder of a schema refers to itself. */
const nested =
  (field: number, message: () => Encode): Write =>
  (writer, value) =>
    writer.message(field, message()(value))

type Encode = (value: JsonValue) => Buffer

function written(write: (writer: WireWriter) => void): Buffer {
  const writer = new WireWriter()
  write(writer)
  return writer.bytes()
}

function listOf(value: JsonValue): readonly JsonValue[] {
  return Array.isArray(value) ? value : [value]
}

function anyValue(value: JsonValue): Buffer {
  return written((writer) => writer.string(2, stringify(value, { version: '1.1', lineWidth: 0, indent: 2 })))
}

/** Encodes an object as a message. Its keys that begin with `x-` become entries of the field with the number `extensions`. */
function messageOf(fields: Message, extensions?: number): Encode {
  return (value) =>
    written((writer) => {
      if (!isObject(value)) return
      for (const [name, write] of Object.entries(fields)) {
        const field = value[name]
        if (field !== undefined) write(writer, field)
      }
      if (extensions === undefined) return
      for (const [name, field] of Object.entries(value)) {
        if (name.startsWith('x-') && field !== undefined) writer.message(extensions, named(name, anyValue(field)))
      }
    })
}

function named(name: string, content: Buffer): Buffer {
  return written((writer) => {
    writer.string(1, name)
    writer.message(2, content)
  })
}

/** Encodes a map as a message. Each key becomes an entry with a name and a value. `entries` is the number of the field for the entries. */
function mapOf(entries: number, encode: () => Encode): Encode {
  return (value) =>
    written((writer) => {
      if (!isObject(value)) return
      for (const [name, entry] of Object.entries(value)) {
        if (entry !== undefined) writer.message(entries, named(name, encode()(entry)))
      }
    })
}

/** Encodes a message that contains one of several alternative messages. `field` is the number of the field for this alternative. */
function oneOf(field: number, encode: () => Encode): Encode {
  return (value) => written((writer) => writer.message(field, encode()(value)))
}

const additionalProperties: Encode = (value) =>
  isObject(value) ? written((writer) => writer.message(1, schema(value))) : written((writer) => writer.bool(2, value === true))

const schema: Encode = messageOf(
  {
    $ref: text(1),
    format: text(2),
    title: text(3),
    description: text(4),
    default: any(5),
    multipleOf: double(6),
    maximum: double(7),
    exclusiveMaximum: flag(8),
    minimum: double(9),
    exclusiveMinimum: flag(10),
    maxLength: integer(11),
    minLength: integer(12),
    pattern: text(13),
    maxItems: integer(14),
    minItems: integer(15),
    uniqueItems: flag(16),
    maxProperties: integer(17),
    minProperties: integer(18),
    required: texts(19),
    enum: each(any(20)),
    additionalProperties: nested(21, () => additionalProperties),
    type: nested(22, () => (value) => written((writer) => texts(1)(writer, value))),
    items: nested(23, () => oneOf(1, () => schema)),
    properties: nested(25, () => mapOf(1, () => schema)),
    externalDocs: nested(29, () => messageOf({ description: text(1), url: text(2) }, 3)),
    example: any(30),
  },
  31,
)

const bodyParameter = messageOf({ description: text(1), name: text(2), in: text(3), required: flag(4), schema: nested(5, () => schema) }, 6)
const queryParameter = messageOf(
  { required: flag(1), in: text(2), description: text(3), name: text(4), type: text(6), format: text(7), uniqueItems: flag(20) },
  23,
)
const pathParameter = messageOf(
  { required: flag(1), in: text(2), description: text(3), name: text(4), type: text(5), format: text(6), uniqueItems: flag(19) },
  22,
)

const parameter: Encode = (value) => {
  const location = isObject(value) ? value.in : undefined
  if (location === 'body') return oneOf(1, () => bodyParameter)(value)
  const other = location === 'path' ? oneOf(4, () => pathParameter) : oneOf(3, () => queryParameter)
  return oneOf(2, () => other)(value)
}
/** A parameter, or a reference to a shared one. */
const parameterItem: Encode = (value) =>
  isObject(value) && value.$ref !== undefined ? oneOf(2, () => messageOf({ $ref: text(1) }))(value) : oneOf(1, () => parameter)(value)

const response = messageOf({ description: text(1), schema: nested(2, () => oneOf(1, () => schema)) }, 5)

const operation = messageOf(
  {
    tags: texts(1),
    summary: text(2),
    description: text(3),
    operationId: text(5),
    produces: texts(6),
    consumes: texts(7),
    parameters: each(nested(8, () => parameterItem)),
    responses: nested(9, () => mapOf(1, () => oneOf(1, () => response))),
    schemes: texts(10),
    deprecated: flag(11),
  },
  13,
)

const pathItem = messageOf(
  {
    get: nested(2, () => operation),
    put: nested(3, () => operation),
    post: nested(4, () => operation),
    delete: nested(5, () => operation),
    options: nested(6, () => operation),
    head: nested(7, () => operation),
    patch: nested(8, () => operation),
    parameters: each(nested(9, () => parameterItem)),
  },
  10,
)

const apiKey = messageOf({ type: text(1), name: text(2), in: text(3), description: text(4) }, 5)

const document = messageOf({
  swagger: text(1),
  info: nested(2, () => messageOf({ title: text(1), version: text(2) })),
  paths: nested(8, () => mapOf(2, () => pathItem)),
  definitions: nested(9, () => mapOf(1, () => schema)),
  parameters: nested(10, () => mapOf(1, () => parameter)),
  security: each(nested(12, () => mapOf(1, () => (value) => written((writer) => texts(1)(writer, value))))),
  securityDefinitions: nested(13, () => mapOf(1, () => oneOf(2, () => apiKey))),
})

/** Returns the document in protobuf. */
export function encodeOpenApiV2(swagger: JsonObject): Buffer {
  return document(swagger)
}
