/**
 * Encodes the OpenAPI v2 document as protobuf, as kube-apiserver does with gnostic (github.com/google/gnostic-models/openapiv2:
 * OpenAPIv2.proto).
 */
import type { JsonObject, JsonValue } from '../../api/json.ts'
import { isObject } from '../../api/json.ts'
import { WireWriter } from '../protobuf/wire-writer.ts'
import { yamlValue } from './yaml-value.ts'

/**
 * Writes a JSON value into the current protobuf message. There are two kinds of such functions:
 *
 * - A function for a field, e.g. `text(1)`, writes the value into this field of the message.
 * - A function for a message, e.g. `messageOf({ … })`, writes each member of the value into the field for this member.
 */
type Write = (writer: WireWriter, value: JsonValue) => void
/** The JSON fields of a message, and the function that writes each field. The fields are in the order of their protobuf numbers. */
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
/** Writes a value of any type as a message. The second field of the message contains the value as YAML. */
const any =
  (field: number): Write =>
  (writer, value) =>
    writer.message(field, () => anyValue(writer, value))
const each =
  (write: Write): Write =>
  (writer, value) => {
    for (const item of listOf(value)) write(writer, item)
  }
/**
 * Writes an embedded message. `content` returns the encoder of the message, and is called only when the message is written. The parameter
 * is a function because `schema` is used in its own definition, where it has no value yet.
 */
const nested =
  (field: number, content: () => Write): Write =>
  (writer, value) =>
    writer.message(field, () => content()(writer, value))

function listOf(value: JsonValue): readonly JsonValue[] {
  return Array.isArray(value) ? value : [value]
}

const anyValue: Write = (writer, value) => writer.string(2, yamlValue(value))

/**
 * Writes the fields of an object. The fields whose names begin with `x-` become entries of the protobuf field with the number `extensions`.
 */
function messageOf(fields: Message, extensions?: number): Write {
  const known = Object.entries(fields)
  return (writer, value) => {
    if (!isObject(value)) return
    for (const [name, write] of known) {
      const field = value[name]
      if (field !== undefined) write(writer, field)
    }
    if (extensions === undefined) return
    for (const [name, field] of Object.entries(value)) {
      if (name.startsWith('x-') && field !== undefined) named(extensions, name, anyValue)(writer, field)
    }
  }
}

/** Writes an embedded message that has a name and a value. */
function named(field: number, name: string, content: Write): Write {
  return (writer, value) =>
    writer.message(field, () => {
      writer.string(1, name)
      writer.message(2, () => content(writer, value))
    })
}

/** Writes each entry of a map as an embedded message with a name and a value. `field` is the field number of these messages. */
function mapOf(field: number, content: () => Write): Write {
  return (writer, value) => {
    if (!isObject(value)) return
    for (const [name, entry] of Object.entries(value)) {
      if (entry !== undefined) named(field, name, content())(writer, entry)
    }
  }
}

const additionalProperties: Write = (writer, value) =>
  isObject(value) ? writer.message(1, () => schema(writer, value)) : writer.bool(2, value === true)

const schema: Write = messageOf(
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
    type: nested(22, () => texts(1)),
    items: nested(23, () => nested(1, () => schema)),
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

const parameter: Write = (writer, value) => {
  const location = isObject(value) ? value.in : undefined
  if (location === 'body') return nested(1, () => bodyParameter)(writer, value)
  const other = location === 'path' ? nested(4, () => pathParameter) : nested(3, () => queryParameter)
  return nested(2, () => other)(writer, value)
}
/** Writes a reference to a shared parameter. */
const sharedParameter = messageOf({ $ref: text(1) })
const parameterItem: Write = (writer, value) => {
  const isReference = isObject(value) && value.$ref !== undefined
  return isReference ? writer.message(2, () => sharedParameter(writer, value)) : writer.message(1, () => parameter(writer, value))
}

const response = messageOf({ description: text(1), schema: nested(2, () => nested(1, () => schema)) }, 5)

const operation = messageOf(
  {
    tags: texts(1),
    summary: text(2),
    description: text(3),
    operationId: text(5),
    produces: texts(6),
    consumes: texts(7),
    parameters: each(nested(8, () => parameterItem)),
    responses: nested(9, () => mapOf(1, () => nested(1, () => response))),
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

/** `head` writes the fields before the paths and definitions of the document. `tail` writes the fields after the paths and definitions. */
const head = messageOf({
  swagger: text(1),
  info: nested(2, () => messageOf({ title: text(1), version: text(2) })),
})
const tail = messageOf({
  parameters: nested(10, () => mapOf(1, () => parameter)),
  security: each(nested(12, () => mapOf(1, () => texts(1)))),
  securityDefinitions: nested(13, () => mapOf(1, () => nested(2, () => apiKey))),
})

/** Encodes a path for `encodeDocument`. */
export function encodePath(path: string, item: JsonValue): Buffer {
  return encoded(named(2, path, pathItem), item)
}

/** Encodes a definition for `encodeDocument`. */
export function encodeDefinition(name: string, definition: JsonValue): Buffer {
  return encoded(named(1, name, schema), definition)
}

function encoded(write: Write, value: JsonValue): Buffer {
  const writer = new WireWriter()
  write(writer, value)
  return writer.bytes()
}

/**
 * Returns the document in protobuf.
 *
 * @param fields the fields of the document except for `paths` and `definitions`
 */
export function encodeDocument(fields: JsonObject, paths: readonly Buffer[], definitions: readonly Buffer[]): Buffer {
  const writer = new WireWriter()
  head(writer, fields)
  writer.message(8, () => paths.forEach((path) => writer.encoded(path)))
  writer.message(9, () => definitions.forEach((definition) => writer.encoded(definition)))
  tail(writer, fields)
  return writer.bytes()
}
