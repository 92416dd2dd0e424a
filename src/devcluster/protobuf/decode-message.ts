/**
 * Decodes a protobuf message to the JSON that Go would encode for the decoded struct:
 *
 * - A field with `omitempty` and an empty value, such as 0, is omitted, even if the message contains the field.
 * - A field without `omitempty` is never omitted. If the message does not contain the field, the JSON contains the zero value.
 */
import type { JsonObject, JsonValue } from '../../api/json.ts'
import { setOwn } from '../../api/json.ts'
import { maxDepth } from '../apimachinery/duplicate-keys.ts'
import type { FieldDescriptor, MessageDescriptor, Scalar } from './descriptors.ts'
import { messageDescriptor } from './descriptors.ts'
import { jsonForms } from './json-forms.ts'
import { ProtobufError, WireReader, wireTypes } from './wire-reader.ts'

/**
 * Returns the JSON of an encoded message.
 *
 * @throws {ProtobufError} when the bytes are not a valid message.
 */
export function decodeMessage(message: MessageDescriptor, bytes: Buffer): JsonObject {
  return fieldsOf(message, bytes, 0)
}

/**
 * The decoded value of a field. If the field contains a single message, and not a list or map, the message is not decoded yet. `pieces`
 * then contains the encoded bytes of each occurrence of the field. Protobuf merges these occurrences, so the pieces are concatenated, and
 * then decoded as one message.
 */
type Sent = JsonValue | { readonly pieces: Buffer[] }

function fieldsOf(message: MessageDescriptor, bytes: Buffer, depth: number): JsonObject {
  if (depth > maxDepth) throw new ProtobufError('exceeded max depth')
  const sent = read(message, bytes, depth)
  const object: JsonObject = {}
  for (const field of message.fields) {
    const value = jsonOf(field, sent.get(field), depth)
    if (field.name === undefined) Object.assign(object, value)
    else if (value !== undefined) setOwn(object, field.name, value)
  }
  return object
}

function read(message: MessageDescriptor, bytes: Buffer, depth: number): Map<FieldDescriptor, Sent> {
  const sent = new Map<FieldDescriptor, Sent>()
  const reader = new WireReader(bytes)
  const goName = message.name.slice(message.name.lastIndexOf('.') + 1)
  while (!reader.done) {
    const { number, wireType } = reader.tag(goName)
    const field = message.byNumber.get(number)
    if (field === undefined) reader.skip(wireType)
    else readField(field, wireType, reader, sent, depth)
  }
  return sent
}

function readField(field: FieldDescriptor, wireType: number, reader: WireReader, sent: Map<FieldDescriptor, Sent>, depth: number): void {
  const { label, type } = field
  const expected = label === 'map' ? wireTypes.bytes : wireTypeOf(type)
  const isPacked = label === 'list' && wireType === wireTypes.bytes && expected !== wireTypes.bytes
  if (wireType !== expected && !isPacked) throw new ProtobufError(`proto: wrong wireType = ${wireType} for field ${field.goName}`)
  if (label === 'map') {
    const [key, value] = entryOf(field, reader.bytes(), depth)
    const map = (sent.get(field) ?? {}) as JsonObject
    setOwn(map, key, value)
    sent.set(field, map)
  } else if (label === 'list') {
    const list = (sent.get(field) ?? []) as JsonValue[]
    const packed = isPacked ? new WireReader(reader.bytes()) : undefined
    if (packed === undefined) list.push(valueOf(type, reader, depth + 1))
    else while (!packed.done) list.push(valueOf(type, packed, depth))
    if (list.length > 0) sent.set(field, list)
  } else if (typeof type === 'string') {
    sent.set(field, scalarOf(type, reader))
  } else {
    const { pieces } = (sent.get(field) ?? { pieces: [] }) as { pieces: Buffer[] }
    pieces.push(reader.bytes())
    sent.set(field, { pieces })
  }
}

/**
 * Decodes an entry of a map with string keys. Like Go's decoder, this function accepts invalid field numbers in the entry, and does not
 * check the wire types of the key and the value.
 */
function entryOf(field: FieldDescriptor, bytes: Buffer, depth: number): [string, JsonValue] {
  const reader = new WireReader(bytes)
  let key = ''
  let value: JsonValue | undefined
  while (!reader.done) {
    const { number, wireType } = reader.tag()
    if (number === 1) key = reader.bytes().toString('utf8')
    else if (number === 2) value = valueOf(field.type, reader, depth + 1)
    else reader.skip(wireType)
  }
  return [key, value ?? (typeof field.type === 'string' ? zeroOf(field.type) : messageOf(field.type.message, Buffer.alloc(0), depth + 1))]
}

function wireTypeOf(type: FieldDescriptor['type']): number {
  if (type === 'bool' || type === 'int32' || type === 'int64') return wireTypes.varint
  return type === 'double' ? wireTypes.fixed64 : wireTypes.bytes
}

function valueOf(type: FieldDescriptor['type'], reader: WireReader, depth: number): JsonValue {
  return typeof type === 'string' ? scalarOf(type, reader) : messageOf(type.message, reader.bytes(), depth)
}

function scalarOf(type: Scalar, reader: WireReader): JsonValue {
  switch (type) {
    case 'bool':
      return reader.varint() !== 0n
    case 'int32':
      return Number(BigInt.asIntN(32, reader.varint()))
    case 'int64':
      return Number(BigInt.asIntN(64, reader.varint()))
    case 'double':
      return finite(reader.double())
    case 'string':
      return reader.bytes().toString('utf8')
    case 'bytes':
      return reader.bytes().toString('base64')
  }
}

function finite(value: number): number {
  if (!Number.isFinite(value)) throw new ProtobufError(`json: unsupported value: ${value}`)
  return value
}

function messageOf(name: string, bytes: Buffer, depth: number): JsonValue {
  const fields = fieldsOf(messageDescriptor(name), bytes, depth + 1)
  const form = jsonForms.get(name)
  return form === undefined ? fields : form(fields)
}

/** Returns the JSON of a field; undefined when Go omits the field. */
function jsonOf({ label, pointer, omitsEmpty, type }: FieldDescriptor, sent: Sent | undefined, depth: number): JsonValue | undefined {
  if (sent === undefined && (label !== 'one' || pointer || type === 'bytes')) return omitsEmpty ? undefined : null
  if (label !== 'one') return sent as JsonValue
  if (typeof type === 'string') {
    const value = (sent ?? zeroOf(type)) as JsonValue
    return omitsEmpty && !pointer && value === zeroOf(type) ? undefined : value
  }
  const { pieces } = (sent ?? { pieces: [] }) as { pieces: Buffer[] }
  const value = messageOf(type.message, pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces), depth)
  return omitsEmpty && !pointer && value === null ? undefined : value
}

function zeroOf(type: Scalar): JsonValue {
  if (type === 'bool') return false
  return type === 'string' || type === 'bytes' ? '' : 0
}
