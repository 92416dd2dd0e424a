/**
 * Objects in Kubernetes' protobuf format: a prefix of four bytes, and the object in a `runtime.Unknown`
 * (k8s.io/apimachinery/pkg/runtime/serializer/protobuf).
 */
import { quote } from '../../api/field-error.ts'
import type { JsonObject } from '../../api/json.ts'
import { decodeMessage } from './decode-message.ts'
import { isRegistered, messageDescriptor, messageOfKind } from './descriptors.ts'
import { ProtobufError } from './wire-reader.ts'

const magic = Buffer.from('k8s\0')

export interface TypeMeta {
  readonly apiVersion: string
  readonly kind: string
}

/** Thrown when the type is known, but the object is invalid. */
export class UnreadableObject extends ProtobufError {
  readonly type: TypeMeta

  constructor(type: TypeMeta, problem: string) {
    super(problem)
    this.type = type
  }
}

/**
 * Decodes a body to JSON.
 *
 * @param expected type of an object without apiVersion and kind
 * @throws {ProtobufError} for invalid protobuf; {@link UnreadableObject} when the type could be decoded.
 */
export function decodeProtobufObject(body: Buffer, expected: TypeMeta): JsonObject {
  if (body.length === 0) throw new ProtobufError('empty data')
  if (!body.subarray(0, magic.length).equals(magic)) {
    throw new ProtobufError(`provided data does not appear to be a protobuf message, expected prefix [${magic.join(' ')}]`)
  }
  if (body.length === magic.length) throw new ProtobufError('empty body')
  const unknown = decodeMessage(messageDescriptor('runtime.Unknown'), body.subarray(magic.length)) as Unknown
  const type = { kind: unknown.kind || expected.kind, apiVersion: unknown.apiVersion || expected.apiVersion }
  if (!isRegistered(type.apiVersion, type.kind)) throw new UnreadableObject(type, noSuchKind(type))
  const message = messageOfKind(type.apiVersion, type.kind)
  // The type is a list, or a version that is not served. The content is irrelevant, because the type is rejected.
  if (message === undefined) return { ...type }
  try {
    return { ...type, ...decodeMessage(message, Buffer.from(unknown.raw ?? '', 'base64')) }
  } catch (error) {
    throw error instanceof ProtobufError ? new UnreadableObject(type, error.message) : error
  }
}

type Unknown = Partial<Record<'apiVersion' | 'kind' | 'raw', string>>

/** Returns the message for an unknown type. */
export function noSuchKind({ apiVersion, kind }: TypeMeta): string {
  return `no kind ${quote(kind)} is registered for version ${quote(apiVersion)} in scheme "pkg/runtime/scheme.go:111"`
}
